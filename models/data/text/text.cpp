#include "models/data/text/text.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/small_file.h"
#include "base/text/json.h"
#include "base/text/utf8.h"
#include "models/data/files_below.h"

namespace vkf {
namespace fs = std::filesystem;
namespace {

void require_utf8(std::string_view text, const fs::path& path) {
    const auto wrong = invalid_utf8(text);
    require(!wrong, path.string(), ": is not UTF-8 at byte ", wrong.value_or(0));
}

std::string read_directory(const fs::path& directory) {
    std::string all;
    for (const fs::path& path : files_below(directory)) {
        std::string text = read_text(path);
        if (text.empty() || text.find('\0') != std::string::npos) continue;
        require_utf8(text, path);
        all += text;
        if (all.back() != '\n' && all.back() != '\r') all += '\n';
    }
    return all;
}

// Formats a character for a message.
std::string shown(char32_t character) {
    std::string itself;
    append_utf8(itself, character);
    return shown_bytes(itself);
}

}  // namespace

void unify_line_ends(std::string& text) {
    if (text.find('\r') == std::string::npos) return;
    std::size_t to = 0;
    for (std::size_t from = 0; from < text.size(); ++from) {
        const bool before_newline = from + 1 < text.size() && text[from + 1] == '\n';
        if (text[from] != '\r') {
            text[to++] = text[from];
        } else if (!before_newline) {
            text[to++] = '\n';
        }
    }
    text.resize(to);
}

std::string read_corpus(const fs::path& path) {
    const bool directory = fs::is_directory(path);
    const bool json = !directory && (path.extension() == ".jsonl" || path.extension() == ".json");
    require(!json, path.string(),
            ": is JSON by its name, wanted a text; `vkformer data tokens` makes tokens of the texts ",
            "that JSON holds");
    std::string text = directory ? read_directory(path) : read_text(path);
    require(!text.empty(), path.string(), directory ? ": holds no text files" : ": is empty", ", wanted text");
    if (!directory) require_utf8(text, path);
    unify_line_ends(text);
    return text;
}

std::size_t training_share(std::size_t n) {
    return static_cast<std::size_t>(static_cast<double>(n) * 0.9);  // rounds as Python's int(0.9 * n)
}

std::pair<std::string_view, std::string_view> split_text(std::string_view text) {
    // Every byte but 10xxxxxx starts a character.
    const auto starts = [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; };
    const auto characters = std::count_if(text.begin(), text.end(), starts);
    std::size_t left = training_share(static_cast<std::size_t>(characters));
    std::size_t cut = 0;
    while (cut < text.size() && !(starts(text[cut]) && left-- == 0)) ++cut;
    return {text.substr(0, cut), text.substr(cut)};
}

Characters::Characters(std::vector<char32_t> characters) : characters_(std::move(characters)) {
    if (!characters_.empty()) token_of_.assign(characters_.back() + 1, -1);
    for (std::size_t token = 0; token < characters_.size(); ++token) {
        token_of_[characters_[token]] = static_cast<std::int32_t>(token);
    }
}

Characters Characters::of(std::string_view text) {
    std::vector<bool> seen(0x110000);
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint character = decode_utf8(text, at);
        require(character.bytes > 0, "text is not UTF-8 at byte ", at);
        seen[character.value] = true;
        at += character.bytes;
    }
    std::vector<char32_t> characters;
    for (char32_t value = 0; value < seen.size(); ++value) {
        if (seen[value]) characters.push_back(value);
    }
    return Characters(std::move(characters));
}

Characters Characters::load(const fs::path& path) {
    const std::string file = path.string();
    const nlohmann::json tree = parse_json(read_small_text(path), file);
    require(tree.is_object() && tree.value("type", nlohmann::json()) == "chars", file,
            ": wanted an object with \"type\": \"chars\"");
    require(tree.contains("chars") && tree["chars"].is_array() && !tree["chars"].empty(), file,
            ": \"chars\" must be a list of at least one character");
    std::vector<char32_t> characters;
    for (const auto& entry : tree["chars"]) {
        const std::string where = text(file, ": chars[", characters.size(), "]: ");
        require(entry.is_string(), where, "wanted a string");
        const auto& string = entry.get_ref<const std::string&>();
        const CodePoint character = string.empty() ? CodePoint{} : decode_utf8(string, 0);
        require(character.bytes > 0 && character.bytes == string.size(), where, "wanted one character");
        require(characters.empty() || characters.back() < character.value, where, shown(character.value),
                " does not follow in code-point order");
        characters.push_back(character.value);
    }
    return Characters(std::move(characters));
}

std::string Characters::json() const {
    auto chars = nlohmann::ordered_json::array();
    for (const char32_t character : characters_) {
        std::string entry;
        append_utf8(entry, character);
        chars.push_back(std::move(entry));
    }
    const nlohmann::ordered_json tree = {{"type", "chars"}, {"chars", std::move(chars)}};
    return tree.dump() + "\n";
}

template <class Token>
void Characters::append(std::string_view text, std::vector<Token>& tokens, std::size_t& position) const {
    for (std::size_t at = 0; at < text.size(); ++position) {
        const CodePoint character = decode_utf8(text, at);
        require(character.bytes > 0, "text is not UTF-8 at byte ", at);
        const bool known = character.value < token_of_.size() && token_of_[character.value] >= 0;
        if (!known) {
            throw InputError("character ", shown(character.value), " at position ", position,
                             " is not among the vocabulary's ", size(), " characters");
        }
        tokens.push_back(static_cast<Token>(token_of_[character.value]));
        at += character.bytes;
    }
}

class CharacterEncoder final : public TextEncoder {
public:
    explicit CharacterEncoder(const Characters& characters) : characters_(characters) {}
    void feed(std::string_view text, Tokens& tokens) override { characters_.append(text, tokens, position_); }
    void finish(Tokens&) override { position_ = 0; }

private:
    const Characters& characters_;
    std::size_t position_ = 0;
};

std::unique_ptr<TextEncoder> Characters::text_encoder() const {
    return std::make_unique<CharacterEncoder>(*this);
}

TokenList Characters::tokens_of(std::string_view text) const {
    constexpr std::size_t most = std::size_t{std::numeric_limits<std::uint16_t>::max()} + 1;
    const auto all = [&]<class Token>(std::vector<Token> tokens) {
        std::size_t position = 0;
        tokens.reserve(text.size());
        append(text, tokens, position);
        return tokens;
    };
    if (size() <= most) return all(std::vector<std::uint16_t>());
    return all(std::vector<std::uint32_t>());
}

std::string Characters::bytes(std::int32_t token) const {
    std::string text;
    append_utf8(text, characters_[index_of(token)]);
    return text;
}

}  // namespace vkf
