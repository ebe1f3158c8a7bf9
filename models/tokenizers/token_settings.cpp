#include "models/tokenizers/token_settings.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/error.h"
#include "base/files/published.h"
#include "base/files/small_file.h"
#include "base/text/json.h"
#include "models/files/config_keys.h"
#include "models/files/other_keys.h"
#include "models/tokenizers/tokenizer_json/json_part.h"

namespace vkf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* SPECIAL_KEYS[] = {"bos_token",           "eos_token", "unk_token",  "sep_token",
                                        "pad_token",           "cls_token", "mask_token", "additional_special_tokens",
                                        "extra_special_tokens"};

constexpr std::string_view NORMALIZER_KEYS[] = {"do_lower_case", "strip_accents", "tokenize_chinese_chars"};

// Reads a token: its name, or an object that has the name as its "content".
TokenSettings::Token read_token(const JsonPart& entry, bool special) {
    if (!entry.value().is_object()) return {.name = entry.string(), .where = entry.where(), .special = special};
    for (const char* unsupported : {"single_word", "lstrip", "rstrip"})
        require(!entry.flag(unsupported, false), entry[unsupported].where(), " is true, wanted false");
    return {.name = entry["content"].string(), .where = entry.where(), .special = entry.flag("special", special)};
}

// Reads the tokens of one key: one token, a list of tokens, or an object of further names for them.
void read_special(const JsonPart& entry, std::vector<TokenSettings::Token>& tokens) {
    if (entry.is_null()) return;
    if (entry.value().is_array()) {
        for (const JsonPart& element : entry.elements()) read_special(element, tokens);
    } else if (entry.value().is_object() && !entry.value().contains("content")) {
        for (const auto& [name, value] : entry.value().items()) read_special(entry[name.c_str()], tokens);
    } else {
        tokens.push_back(read_token(entry, true));
    }
}

// Reads "added_tokens_decoder": tokens by their numbers.
void read_decoder(const JsonPart& decoder, std::vector<TokenSettings::Token>& tokens) {
    if (decoder.is_null()) return;
    if (!decoder.value().is_object()) decoder.refuse("an object");
    for (const auto& [number, value] : decoder.value().items()) {
        const JsonPart entry = decoder[number.c_str()];
        TokenSettings::Token token = read_token(entry, false);
        std::int64_t found = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), found);
        if (error != std::errc() || *end != 0) entry.refuse("the number of a token as its key");
        token.number = found;
        tokens.push_back(std::move(token));
    }
}

std::optional<bool> read_flag(const JsonPart& settings, const char* key) {
    return settings[key].is_null() ? std::nullopt : std::optional(settings.flag(key, false));
}

std::optional<TokenSettings::Token> read_one(const JsonPart& settings, const char* key) {
    return settings[key].is_null() ? std::nullopt : std::optional(read_token(settings[key], true));
}

// Reads the keys that name special tokens, which either file may have.
void read_names(const JsonPart& file, TokenSettings& settings) {
    for (const char* key : SPECIAL_KEYS) read_special(file[key], settings.added);
    if (!settings.begin) settings.begin = read_one(file, "bos_token");
    if (!settings.end) settings.end = read_one(file, "eos_token");
}

std::int32_t token_of(const TokenSettings::Token& wanted, const std::vector<AddedToken>& tokens) {
    const auto found = std::ranges::find(tokens, wanted.name, &AddedToken::text);
    if (found == tokens.end())
        throw InputError(wanted.where, " is ", one_line(json(wanted.name)),
                         ", wanted one of the added tokens of the vocabulary");
    return found->token;
}

}  // namespace

TokenSettings TokenSettings::read(const fs::path& directory, std::string_view prefix) {
    TokenSettings settings;
    const auto with = [&](std::string_view name, auto take) {
        const fs::path path = directory / (std::string(prefix) += name);
        if (!file_exists(path)) return;
        const std::string file = path.string();
        const json document = parse_json(read_small_text(path), file);
        const JsonPart part(document, file);
        if (!document.is_object()) part.refuse("an object");
        take(part);
    };
    with(TOKENIZER_CONFIG, [&](const JsonPart& file) {
        require_understood(ConfigKeys(file.file(), file.value()), NORMALIZER_KEYS, other_tokenizer_keys());
        read_decoder(file["added_tokens_decoder"], settings.added);
        read_names(file, settings);
        settings.add_begin = read_flag(file, "add_bos_token");
        settings.add_end = read_flag(file, "add_eos_token");
        settings.prefix_space = read_flag(file, "add_prefix_space");
        settings.lowercase = read_flag(file, NORMALIZER_KEYS[0].data());
        settings.strip_accents = read_flag(file, NORMALIZER_KEYS[1].data());
        settings.chinese_characters = read_flag(file, NORMALIZER_KEYS[2].data());
    });
    with(SPECIAL_TOKENS_MAP, [&](const JsonPart& file) { read_names(file, settings); });
    with(ADDED_TOKENS, [&](const JsonPart& file) {
        for (const auto& [name, number] : file.value().items()) {
            const JsonPart entry = file[name.c_str()];
            settings.added.push_back(
                {.name = name, .where = entry.where(), .number = entry.integer(), .special = false});
        }
    });
    return settings;
}

void TokenSettings::add_to(TokenNames& names, std::vector<AddedToken>& tokens) const {
    std::unordered_set<std::string> listed;
    for (const AddedToken& token : tokens) listed.insert(token.text);
    for (const Token& token : added)
        if (token.number) names.add(token.name, *token.number, [&] { return token.where; });
    for (const Token& token : added) {
        const auto number = names.find(token.name);
        if (number && !token.name.empty() && listed.insert(token.name).second)
            tokens.push_back({token.name, *number, token.special});
    }
}

void TokenSettings::decide(TextBounds& bounds, const std::vector<AddedToken>& tokens) const {
    const auto chosen = [&](const std::optional<Token>& token, bool wanted, const char* key, const char* name) {
        require(token || !wanted, key, " is true, but no file names the ", name, ", wanted one with it");
        return wanted ? std::optional(token_of(*token, tokens)) : std::nullopt;
    };
    if (end) bounds.end = token_of(*end, tokens);
    if (add_begin) bounds.begin = chosen(begin, *add_begin, "add_bos_token", "bos_token");
    if (add_end) bounds.closing = chosen(end, *add_end, "add_eos_token", "eos_token");
}

}  // namespace vkf
