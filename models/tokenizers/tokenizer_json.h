// Hugging Face's tokenizer.json, of byte-pair models.
#pragma once

#include <filesystem>
#include <string>

#include "models/tokenizers/bpe.h"
#include "models/tokenizers/token_settings.h"

namespace vkf {

/// The model that a tokenizer.json describes: byte-level (pre-tokenizers ByteLevel, Split and Digits), or characters
/// with SentencePiece's spaces (normalizers Prepend and Replace, byte_fallback); added and special tokens. What its
/// post-processor puts around a text begins and closes it; what ends texts it does not say. The settings go before it.
/// How it would truncate and pad texts is for others to know.
/// Throws: InputError naming file and key, what was found and what was wanted, for what is broken and for every feature
/// that is not supported.
BpeModel read_tokenizer_json(const std::filesystem::path& path, const TokenSettings& settings = {});

/// The file of a byte-level model.
std::string tokenizer_json(const BpeModel& model);

}  // namespace vkf
