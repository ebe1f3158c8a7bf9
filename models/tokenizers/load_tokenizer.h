// Finds and reads tokenizers on disk, and keeps the files by which other programs recognise them.
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

/// A tokenizer and the files from which it is read, which are stored wherever its tokens are: in data, checkpoints and
/// models.
struct SavedTokenizer {
    std::shared_ptr<const Tokenizer> tokenizer;
    std::filesystem::path path;                // the file that messages name
    std::map<std::string, std::string> files;  // contents by name, including the form of conversations
    std::string prefix = {};                   // begins the names of all files

    const Tokenizer& operator*() const { return *tokenizer; }
    const Tokenizer* operator->() const { return tokenizer.get(); }
};

/// Prefixes of the files of two tokenizers in one directory: of a model that reads texts of one vocabulary and writes
/// texts of another.
inline constexpr std::string_view SOURCE_PREFIX = "source.", TARGET_PREFIX = "target.";

/// The tokenizer of a directory, by the first of these that it has: tokenizer.json; vocab.json with merges.txt;
/// encoder.json with vocab.bpe; tokenizer.model; vocab.txt (WordPiece); bpe.codes (subword-nmt's codes); chars.json. A
/// file of one of these names stands for the tokenizer to which it belongs. tokenizer_config.json,
/// special_tokens_map.json and added_tokens.json have more about the tokens (token_settings.h). Their "eos_token" ends
/// texts. Without it, the end in a byte-pair tokenizer.json is a token named <|endoftext|>, <|end_of_text|> or </s>.
/// These files and chat_template.jinja are among the tokenizer's files.
/// With a prefix, the names of all files begin with it: source.tokenizer.json and source.tokenizer_config.json.
///
/// Throws: InputError naming the path if there is none, else as the readers of these files do.
SavedTokenizer load_tokenizer(const std::filesystem::path& path, std::string_view prefix = "");

/// As load_tokenizer; nothing if the directory has none of these files.
std::optional<SavedTokenizer> find_tokenizer(const std::filesystem::path& directory, std::string_view prefix = "");

/// Contents of the tokenizer's files by their names with another prefix, which may be empty.
std::map<std::string, std::string> files_with_prefix(const SavedTokenizer& saved, std::string_view prefix);

/// The names of all files that tokenizers are read from, without a prefix and with those above, and those of pairs of
/// tokenizers (marian_tokenizer.h).
std::vector<std::string> tokenizer_files();

}  // namespace vkf
