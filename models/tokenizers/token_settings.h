// What Hugging Face's files say of a vocabulary's tokens beside it: tokenizer_config.json, special_tokens_map.json and
// added_tokens.json.
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
        std::optional<std::int64_t> number = {};  // else the vocabulary's
        bool special = true;
    };
    std::vector<Token> added;                // of several with one name, the first counts
    std::optional<Token> begin, end;         // "bos_token", "eos_token"
    std::optional<bool> add_begin, add_end;  // to every text; else the vocabulary's own file says
    std::optional<bool> prefix_space;        // "add_prefix_space"

    /// Those of a directory; what no file says is left open. tokenizer_config.json goes before special_tokens_map.json.
    /// Throws: InputError naming file and key that is broken or asks for what is not done here.
    static TokenSettings read(const std::filesystem::path& directory);

    /// Gives the vocabulary the tokens that it lacks and that have a number, and lists as added tokens what is one
    /// here.
    void add_to(TokenNames& names, std::vector<AddedToken>& tokens) const;

    /// Decides what begins and ends texts: what no file says stays as the vocabulary's own file has it.
    /// Throws: InputError naming the file and a token that it names and that is none of the added ones.
    void decide(TextBounds& bounds, const std::vector<AddedToken>& tokens) const;
};

}  // namespace vkf
