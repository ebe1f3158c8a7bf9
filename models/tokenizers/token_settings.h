// Settings of a vocabulary's tokens in Hugging Face's files next to it: tokenizer_config.json, special_tokens_map.json
// and added_tokens.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizers/token_names.h"
#include "models/tokenizers/tokenizer.h"

namespace vkf {

inline constexpr std::string_view TOKENIZER_CONFIG = "tokenizer_config.json",
                                  SPECIAL_TOKENS_MAP = "special_tokens_map.json", ADDED_TOKENS = "added_tokens.json";

struct TokenSettings {
    struct Token {
        std::string name;
        std::string where;                        // begins messages
        std::optional<std::int64_t> number = {};  // default: the vocabulary's
        bool special = true;
    };
    std::vector<Token> added;                // if several have one name, the first counts
    std::optional<Token> begin, end;         // "bos_token", "eos_token"
    std::optional<bool> add_begin, add_end;  // to every text; default: as in the vocabulary's own file
    std::optional<bool> prefix_space;        // "add_prefix_space"
    std::optional<bool> lowercase, strip_accents, chinese_characters;  // of BERT: "do_lower_case", …

    /// Reads the settings of a directory, from files whose names begin with the prefix; settings that no file has are
    /// empty. tokenizer_config.json has priority over special_tokens_map.json.
    /// Throws: InputError naming file and key that is broken or asks for an unsupported feature.
    static TokenSettings read(const std::filesystem::path& directory, std::string_view prefix = "");

    /// Adds to the vocabulary the tokens that it lacks and that have a number, and lists the tokens of the settings as
    /// added tokens.
    void add_to(TokenNames& names, std::vector<AddedToken>& tokens) const;

    /// Decides which tokens begin and end texts; without a setting, the choice of the vocabulary's own file stays.
    /// Throws: InputError naming the file and a token that it names but that is not among the added tokens.
    void decide(TextBounds& bounds, const std::vector<AddedToken>& tokens) const;
};

}  // namespace vkf
