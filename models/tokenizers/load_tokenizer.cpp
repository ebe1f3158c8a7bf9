#include "models/tokenizers/load_tokenizer.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/json.h"
#include "base/small_file.h"
#include "models/data/text.h"
#include "models/tokenizers/byte_level_model.h"
#include "models/tokenizers/gpt2_files.h"
#include "models/tokenizers/json_part.h"
#include "models/tokenizers/sentencepiece.h"
#include "models/tokenizers/tokenizer_json.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view CONFIG = "tokenizer_config.json";

std::optional<std::int32_t> added_token(const BpeModel& model, std::string_view name) {
    const auto found = std::ranges::find(model.added, name, &AddedToken::text);
    return found == model.added.end() ? std::nullopt : std::optional(found->token);
}

// The file's "eos_token": a name, or an object with the name as its "content".
std::optional<std::int32_t> configured_end(const fs::path& path, const BpeModel& model) {
    if (!fs::exists(path)) return {};
    const std::string file = path.string();
    const nlohmann::json document = parse_json(read_small_text(path), file);
    const JsonPart entry = JsonPart(document, file)["eos_token"];
    if (entry.is_null()) return {};
    const std::string name = (entry.value().is_object() ? entry["content"] : entry).string();
    const auto token = added_token(model, name);
    if (!token) entry.refuse("one of the added tokens of tokenizer.json");
    return token;
}

BpeModel read_directory_json(const fs::path& directory) {
    BpeModel model = read_tokenizer_json(directory / "tokenizer.json");
    model.end_of_text = configured_end(directory / CONFIG, model);
    for (const std::string_view usual : {END_OF_TEXT, std::string_view("<|end_of_text|>"), std::string_view("</s>")}) {
        if (!model.end_of_text) model.end_of_text = added_token(model, usual);
    }
    return model;
}

/// One way in which a tokenizer lies on disk.
struct TokenizerFormat {
    std::string_view file;     // by which it is known
    std::string_view beside;   // that must be there, too; or ""
    std::string_view perhaps;  // that is read if it is there; or ""
    std::shared_ptr<const Tokenizer> (*read)(const fs::path& directory);

    std::vector<std::string_view> files() const {
        std::vector<std::string_view> names{file};
        for (const std::string_view name : {beside, perhaps})
            if (!name.empty()) names.push_back(name);
        return names;
    }
    SavedTokenizer load(const fs::path& directory) const {
        SavedTokenizer saved{read(directory), directory / file, {}};
        for (const std::string_view name : files())
            if (fs::exists(directory / name))
                saved.files[std::string(name)] = read_small_text(directory / name, VOCABULARY_LIMIT);
        return saved;
    }
};

// The first one that a directory has is its tokenizer.
constexpr std::array FORMATS{
    TokenizerFormat{"tokenizer.json", "", CONFIG,
                    [](const fs::path& in) -> std::shared_ptr<const Tokenizer> {
                        return std::make_shared<BpeTokenizer>(read_directory_json(in));
                    }},
    TokenizerFormat{"vocab.json", "merges.txt", "",
                    [](const fs::path& in) -> std::shared_ptr<const Tokenizer> {
                        return std::make_shared<BpeTokenizer>(read_gpt2_files(in / "vocab.json", in / "merges.txt"));
                    }},
    TokenizerFormat{"encoder.json", "vocab.bpe", "",
                    [](const fs::path& in) -> std::shared_ptr<const Tokenizer> {
                        return std::make_shared<BpeTokenizer>(read_gpt2_files(in / "encoder.json", in / "vocab.bpe"));
                    }},
    TokenizerFormat{"tokenizer.model", "", "",
                    [](const fs::path& in) -> std::shared_ptr<const Tokenizer> {
                        return SentencePiece::load(in / "tokenizer.model");
                    }},
    TokenizerFormat{"chars.json", "", "",
                    [](const fs::path& in) -> std::shared_ptr<const Tokenizer> {
                        return std::make_shared<Characters>(Characters::load(in / "chars.json"));
                    }},
};

constexpr const char* WANTED =
    "wanted tokenizer.json, vocab.json and merges.txt, encoder.json and vocab.bpe, tokenizer.model or chars.json";

}  // namespace

std::optional<SavedTokenizer> find_tokenizer(const fs::path& directory) {
    for (const TokenizerFormat& format : FORMATS)
        if (fs::exists(directory / format.file)) return format.load(directory);
    return {};
}

SavedTokenizer load_tokenizer(const fs::path& path) {
    require(fs::exists(path), "tokenizer ", path.string(), ": does not exist, ", WANTED);
    if (!fs::is_directory(path)) {
        for (const TokenizerFormat& format : FORMATS) {
            const bool named = path.filename() == format.file || path.filename() == format.beside;
            if (named) return format.load(path.parent_path());
        }
        throw InputError("tokenizer ", path.string(), ": has the name of no tokenizer's file, ", WANTED);
    }
    std::optional<SavedTokenizer> found = find_tokenizer(path);
    require(found.has_value(), path.string(), " has no tokenizer, ", WANTED);
    return *found;
}

std::vector<std::string_view> tokenizer_files() {
    std::vector<std::string_view> all;
    for (const TokenizerFormat& format : FORMATS)
        for (const std::string_view name : format.files()) all.push_back(name);
    return all;
}

}  // namespace vkf
