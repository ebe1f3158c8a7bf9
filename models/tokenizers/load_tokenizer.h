// Tokenizers on disk: found, read, and kept with the files by which others know them again.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizers/tokenizer.h"

namespace vkf {

/// A tokenizer and the files that it is read from, which go wherever its tokens go: to data, checkpoints and models.
struct SavedTokenizer {
    std::shared_ptr<const Tokenizer> tokenizer;
    std::filesystem::path path;                // of the file that messages name
    std::map<std::string, std::string> files;  // their contents by name, and how conversations are written

    const Tokenizer& operator*() const { return *tokenizer; }
    const Tokenizer* operator->() const { return tokenizer.get(); }
};

/// The tokenizer of a directory, by the first of these that it has: tokenizer.json; vocab.json with merges.txt;
/// encoder.json with vocab.bpe; tokenizer.model; chars.json. Or the one that a file of one of these names belongs to.
/// tokenizer_config.json, special_tokens_map.json and added_tokens.json say more of their tokens (token_settings.h).
/// The "eos_token" there ends texts. Without one it is, beside a tokenizer.json, a token named <|endoftext|>,
/// <|end_of_text|> or </s>.
/// These and chat_template.jinja are among its files.
/// Throws: InputError naming the path if there is none, else as the readers of these files do.
SavedTokenizer load_tokenizer(const std::filesystem::path& path);

/// The same, or nothing if the directory has none of these files.
std::optional<SavedTokenizer> find_tokenizer(const std::filesystem::path& directory);

/// The names of all files that tokenizers are read from.
std::vector<std::string_view> tokenizer_files();

}  // namespace vkf
