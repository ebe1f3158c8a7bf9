#include "models/tokenizers/wordpiece/vocab_txt.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/small_file.h"
#include "base/text/json.h"
#include "base/text/utf8.h"

namespace vkf {
namespace {

constexpr const char* SPECIAL_NAMES[] = {"[UNK]", "[CLS]", "[SEP]", "[MASK]", "[PAD]"};

std::optional<std::int32_t> number_of(const std::vector<AddedToken>& tokens, std::string_view name) {
    const auto found = std::ranges::find(tokens, name, &AddedToken::text);
    return found == tokens.end() ? std::nullopt : std::optional(found->token);
}

}  // namespace

WordPieceModel read_vocab_txt(const std::filesystem::path& path, const TokenSettings& settings) {
    const std::string file = path.string(), content = read_small_text(path, VOCABULARY_LIMIT);
    nlohmann::json tree = nlohmann::json::object();
    for (std::size_t at = 0, line = 1; at < content.size(); ++line) {
        const auto where = [&] { return text(file, ": line ", line); };
        const std::size_t end = std::min(content.find('\n', at), content.size());
        std::string name = content.substr(at, end - at);
        if (name.ends_with('\r')) name.pop_back();
        if (name.empty()) throw InputError(where(), " is empty, wanted a piece");
        if (invalid_utf8(name)) throw InputError(where(), " is not UTF-8");
        const auto [entry, added] = tree.emplace(name, line - 1);
        if (!added)
            throw InputError(where(), " is ", one_line(nlohmann::json(name)), ", as is line ",
                             entry->get<std::size_t>() + 1, ", wanted another piece");
        at = end + 1;
    }
    TokenNames names(tree, file);
    WordPieceModel model;
    const bool lowercase = settings.lowercase.value_or(true);
    model.normalizer = {.handle_chinese_chars = settings.chinese_characters.value_or(true),
                        .strip_accents = settings.strip_accents.value_or(lowercase),
                        .lowercase = lowercase};
    finish_word_piece(model, names, settings, file);
    return model;
}

void finish_word_piece(WordPieceModel& model, TokenNames& names, const TokenSettings& settings,
                       const std::string& file) {
    const BertNormalizer& normalizer = model.normalizer;
    const auto compare = [&](const std::optional<bool>& wanted, bool found, const char* key) {
        require(wanted.value_or(found) == found, file, ": ", key, " is ", found ? "true" : "false", ", wanted ",
                found ? "false" : "true", " as in ", TOKENIZER_CONFIG);
    };
    compare(settings.lowercase, normalizer.lowercase, "lowercase");
    compare(settings.strip_accents, normalizer.strip_accents, "strip_accents");
    compare(settings.chinese_characters, normalizer.handle_chinese_chars, "handle_chinese_chars");
    for (const char* name : SPECIAL_NAMES)
        if (const auto token = names.find(name); token && !number_of(model.added, name))
            model.added.push_back({name, *token});
    settings.add_to(names, model.added);
    model.tokens = names.by_number();
    require(names.find(model.unknown).has_value(), file, ": has no token ", one_line(nlohmann::json(model.unknown)),
            ", wanted it for unknown words");
    model.bounds.begin = number_of(model.added, "[CLS]");
    model.bounds.end = model.bounds.closing = number_of(model.added, "[SEP]");
    settings.decide(model.bounds, model.added);
}

}  // namespace vkf
