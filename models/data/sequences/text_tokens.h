// Vocabularies for classifiers of texts, as tokenizers that other programs read.
#pragma once

#include <span>
#include <string>

#include "models/tokenizers/load_tokenizer.h"

namespace vkf {

/// Each byte of a text is a token, and [CLS] begins every text: 257 tokens. Stored as a byte-level tokenizer.json
/// without merges.
SavedTokenizer byte_tokenizer();

/// The words of some texts, which white space separates, are tokens; other words become the tokens of their bytes, and
/// [CLS] begins every text. Words are in the order of their bytes, after 256 bytes. Stored as a byte-level
/// tokenizer.json with whole words and without merges.
/// Throws: InputError if the texts have more than 100,000 words.
SavedTokenizer word_tokenizer(std::span<const std::string> texts);

}  // namespace vkf
