// The tokenizer of a model's directory.
#pragma once

#include <filesystem>
#include <memory>

#include "models/tokenizers/tokenizer.h"

namespace vkf {

/// Reads the first of these that the directory has: tokenizer.json; vocab.json with merges.txt; encoder.json with
/// vocab.bpe; tokenizer.model; chars.json. What ends texts beside a tokenizer.json is the "eos_token" of
/// tokenizer_config.json, or else a token named <|endoftext|>, <|end_of_text|> or </s>.
/// Throws: InputError naming the directory if it has none of them, else as the readers of these files do.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& directory);

}  // namespace vkf
