// Tokens as text while they come.
#pragma once

#include <cstdint>
#include <string>

#include "models/tokenizers/tokenizer.h"

namespace vkf {

/// The text of one run of tokens, token by token, in whole characters: what a token begins waits for those that end it.
/// Bytes that are no character become U+FFFD, one for each longest beginning of a character, as in Python's and Hugging
/// Face's decoders. What a model wants texts to begin with is not a part of them, neither a token nor a space.
class TextDecoder {
public:
    /// `tokenizer` must outlive it.
    explicit TextDecoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

    /// The characters that the token completes. Throws: InputError naming a token outside the vocabulary.
    std::string feed(std::int32_t token);
    /// What is left when no more tokens follow; the next text may.
    std::string finish();

private:
    std::string take(bool more);

    const Tokenizer& tokenizer_;
    std::string pending_;  // no character yet
    bool begun_ = false;
};

}  // namespace vkf
