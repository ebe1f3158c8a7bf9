#include "models/tokenizers/marian/marian_tokenizer.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/files/published.h"
#include "base/files/small_file.h"
#include "base/text/json.h"
#include "models/files/config_keys.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;

constexpr const char* SOURCE_MODEL = "source.spm";
constexpr const char* TARGET_MODEL = "target.spm";
constexpr const char* NAMES_FILE = "vocab.json";
constexpr const char* TARGET_NAMES_FILE = "target_vocab.json";

// A name of a language begins a text of a model that writes several languages.
constexpr std::string_view LANGUAGE_BEGIN = ">>", LANGUAGE_END = "<<";

/// Name of the language with which a text begins; empty if there is none.
std::string_view language_name(std::string_view text) {
    const std::size_t end = text.starts_with(LANGUAGE_BEGIN) ? text.find(LANGUAGE_END) : text.npos;
    return end == text.npos ? std::string_view() : text.substr(0, end + LANGUAGE_END.size());
}

/// Settings of tokenizer_config.json that only these tokenizers have.
struct MarianSettings {
    bool separate = false;  // targets have a vocabulary of their own
    std::string unknown = "<unk>", padding = "<pad>", end = "</s>";
};

/// A token's name in a file: a text, or an object that has it as "content".
void read_name(const ConfigKeys& keys, const char* key, std::string& name) {
    if (!keys.has(key)) return;
    name = keys.value(key).is_object() ? keys.inner(key).word("content", name) : keys.word(key, name);
}

MarianSettings read_settings(const fs::path& directory) {
    MarianSettings settings;
    for (const std::string_view name : {SPECIAL_TOKENS_MAP, TOKENIZER_CONFIG}) {  // the second has priority
        if (!file_exists(directory / name)) continue;
        const ConfigKeys keys = ConfigKeys::open(directory / name);
        read_name(keys, "unk_token", settings.unknown);
        read_name(keys, "pad_token", settings.padding);
        read_name(keys, "eos_token", settings.end);
        settings.separate = keys.flag("separate_vocabs", settings.separate);
    }
    return settings;
}

std::shared_ptr<const PieceModel> read_piece_model(const fs::path& file) {
    return std::make_shared<const PieceModel>(read_small_text(file, VOCABULARY_LIMIT), file.string());
}

/// Throws unless a model has pieces in common with its vocabulary: with another language's, it would cut every text
/// into unknown tokens.
void require_related(const PieceModel& model, const TokenNames& names, const fs::path& file, const fs::path& list) {
    const std::vector<std::string> pieces = model.pieces();
    const auto known =
        std::ranges::count_if(pieces, [&](const std::string& piece) { return names.find(piece).has_value(); });
    require(10 * known >= std::ssize(pieces), file.string(), ": ", known, " of its ", pieces.size(), " pieces are in ",
            list.filename().string(), ", wanted most of them");
}

}  // namespace

/// Keeps the text until its end: the model rewrites spaces at the ends, and the place of a piece depends on all words.
class MarianEncoder final : public TextEncoder {
public:
    explicit MarianEncoder(const MarianTokenizer& tokenizer) : tokenizer_(tokenizer) {}

    void feed(std::string_view text, Tokens&) override { text_ += text; }

    void finish(Tokens& tokens) override {
        const std::string_view language = language_name(text_);
        if (!language.empty()) tokens.push_back(tokenizer_.token_of(std::string(language)));
        for (const std::string& piece : tokenizer_.model_->cut(std::string_view(text_).substr(language.size())))
            tokens.push_back(tokenizer_.token_of(piece));
        text_.clear();
    }

private:
    const MarianTokenizer& tokenizer_;
    std::string text_;
};

MarianTokenizer::MarianTokenizer(std::shared_ptr<const PieceModel> model, const TokenNames& names,
                                 std::vector<AddedToken> added, std::int32_t unknown, std::int32_t end)
    : Tokenizer(Added{std::move(added), {.begin = {}, .end = end, .closing = {}}}),
      model_(std::move(model)),
      names_(names),
      unknown_(unknown) {
    bytes_ = names_.by_number();
    for (std::string& piece : bytes_) piece = model_->bytes(piece);
    for (const AddedToken& token : added_tokens()) bytes_[index_of(token.token)] = token.text;
}

std::int32_t MarianTokenizer::token_of(const std::string& piece) const {
    return names_.find(piece).value_or(unknown_);
}

std::unique_ptr<TextEncoder> MarianTokenizer::text_encoder() const {
    return std::make_unique<MarianEncoder>(*this);
}

std::optional<MarianTokenizers> find_marian_tokenizers(const fs::path& directory) {
    if (!file_exists(directory / SOURCE_MODEL) && !file_exists(directory / TARGET_MODEL)) return {};
    const MarianSettings settings = read_settings(directory);
    const TokenSettings tokens = TokenSettings::read(directory);
    MarianTokenizers made;
    const auto read_side = [&](const char* model, const char* list) {
        for (const char* name : {model, list})
            require(file_exists(directory / name), (directory / name).string(), " is missing, wanted ", model, " and ",
                    list);
        const fs::path vocabulary = directory / list;
        TokenNames names(parse_json(read_small_text(vocabulary, VOCABULARY_LIMIT), vocabulary.string()),
                         vocabulary.string());
        std::vector<AddedToken> added;
        for (const std::string& name : {settings.unknown, settings.end, settings.padding}) {
            const auto token = names.find(name);
            require(token.has_value(), vocabulary.string(), ": has no ", one_line(nlohmann::json(name)),
                    ", wanted the tokens for unknown pieces, padding and the end");
            added.push_back({name, *token});
        }
        const std::int32_t unknown = added[0].token, end = added[1].token;
        if (list == std::string_view(NAMES_FILE)) tokens.add_to(names, added);
        const auto pieces = read_piece_model(directory / model);
        require_related(*pieces, names, directory / model, vocabulary);
        return std::make_shared<const MarianTokenizer>(pieces, names, std::move(added), unknown, end);
    };
    const char* target_list = settings.separate ? TARGET_NAMES_FILE : NAMES_FILE;
    made.source = read_side(SOURCE_MODEL, NAMES_FILE);
    made.target = read_side(TARGET_MODEL, target_list);
    made.vocabulary = directory / NAMES_FILE;
    made.target_vocabulary = directory / target_list;
    for (const std::string_view name : marian_tokenizer_files())
        if (file_exists(directory / name))
            made.files[std::string(name)] = read_small_text(directory / name, VOCABULARY_LIMIT);
    return made;
}

std::vector<std::string_view> marian_tokenizer_files() {
    return {SOURCE_MODEL,     TARGET_MODEL,       NAMES_FILE,  TARGET_NAMES_FILE,
            TOKENIZER_CONFIG, SPECIAL_TOKENS_MAP, ADDED_TOKENS};
}

}  // namespace vkf
