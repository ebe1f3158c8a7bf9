// Hugging Face's tokenizer.json, of byte-pair models and of WordPiece.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "models/tokenizers/bpe/bpe.h"
#include "models/tokenizers/token_settings.h"

namespace vkf {

/// The model that a tokenizer.json describes: byte-level (pre-tokenizers ByteLevel, Split and Digits), or characters
/// with SentencePiece's spaces (normalizers Prepend and Replace, byte_fallback); added and special tokens. The tokens
/// that its post-processor puts around a text begin and close it; the file does not say which token ends texts. The
/// settings have priority over the file. Its truncation and padding are ignored.
/// Throws: InputError naming file and key, what was found and what was wanted, for broken parts and for every feature
/// that is not supported.
BpeModel read_tokenizer_json(const std::filesystem::path& path, const TokenSettings& settings = {});

/// The tokenizer that a tokenizer.json describes: a byte-pair model as above, of which a token named <|endoftext|>,
/// <|end_of_text|> or </s> ends texts if the settings name none; or BERT's WordPiece model (normalizer BertNormalizer,
/// pre-tokenizer BertPreTokenizer), whose texts begin with [CLS] and end with [SEP] regardless of its post-processor.
std::shared_ptr<const Tokenizer> load_tokenizer_json(const std::filesystem::path& path,
                                                     const TokenSettings& settings = {});

/// Text of the file for a byte-level model.
std::string tokenizer_json(const BpeModel& model);

}  // namespace vkf
