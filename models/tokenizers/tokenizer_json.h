// Hugging Face's tokenizer.json, of byte-pair models.
#pragma once

#include <filesystem>
#include <string>

#include "models/tokenizers/bpe.h"

namespace vkf {

/// The model that a tokenizer.json describes: byte-level (pre-tokenizers ByteLevel, Split and Digits), or characters
/// with SentencePiece's spaces (normalizers Prepend and Replace, byte_fallback); added and special tokens. What its
/// post-processor puts before a text is `begin_of_text`; what ends texts it does not say.
/// Throws: InputError naming file and key, what was found and what was wanted, for what is broken and for every feature
/// that is not supported.
BpeModel read_tokenizer_json(const std::filesystem::path& path);

/// The file of a byte-level model.
std::string tokenizer_json(const BpeModel& model);

}  // namespace vkf
