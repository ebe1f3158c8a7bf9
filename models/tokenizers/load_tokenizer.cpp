#include "models/tokenizers/load_tokenizer.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "models/data/text.h"
#include "models/tokenizers/byte_level_model.h"
#include "models/tokenizers/gpt2_files.h"
#include "models/tokenizers/json_part.h"
#include "models/tokenizers/sentencepiece.h"
#include "models/tokenizers/tokenizer_json.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;

std::optional<std::int32_t> added_token(const BpeModel& model, std::string_view name) {
    const auto found = std::ranges::find(model.added, name, &AddedToken::text);
    return found == model.added.end() ? std::nullopt : std::optional(found->token);
}

// The file's "eos_token": a name, or an object with the name as its "content".
std::optional<std::int32_t> configured_end(const fs::path& path, const BpeModel& model) {
    if (!fs::exists(path)) return {};
    const std::string file = path.string();
    const nlohmann::json document = parse_json(read_text(path), file);
    const JsonPart entry = JsonPart(document, file)["eos_token"];
    if (entry.is_null()) return {};
    const std::string name = (entry.value().is_object() ? entry["content"] : entry).string();
    const auto token = added_token(model, name);
    if (!token) entry.refuse("one of the added tokens of tokenizer.json");
    return token;
}

BpeModel read_directory_json(const fs::path& directory) {
    BpeModel model = read_tokenizer_json(directory / "tokenizer.json");
    model.end_of_text = configured_end(directory / "tokenizer_config.json", model);
    for (const std::string_view usual : {END_OF_TEXT, std::string_view("<|end_of_text|>"), std::string_view("</s>")}) {
        if (!model.end_of_text) model.end_of_text = added_token(model, usual);
    }
    return model;
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const fs::path& directory) {
    const auto has = [&](const char* name) { return fs::exists(directory / name); };
    if (has("tokenizer.json")) return std::make_unique<BpeTokenizer>(read_directory_json(directory));
    for (const auto& [vocabulary, merges] :
         {std::pair("vocab.json", "merges.txt"), std::pair("encoder.json", "vocab.bpe")}) {
        if (!has(vocabulary)) continue;
        return std::make_unique<BpeTokenizer>(read_gpt2_files(directory / vocabulary, directory / merges));
    }
    if (has("tokenizer.model")) return SentencePiece::load(directory / "tokenizer.model");
    if (has("chars.json")) return std::make_unique<Characters>(Characters::load(directory / "chars.json"));
    throw InputError(directory.string(),
                     " has no tokenizer, wanted tokenizer.json, vocab.json and merges.txt, encoder.json ",
                     "and vocab.bpe, tokenizer.model or chars.json");
}

}  // namespace vkf
