// Decodes tokens to text as they arrive.
#pragma once

#include <cstdint>
#include <string>

#include "models/tokenizers/tokenizer.h"

namespace vkf {

/// The text of one sequence of tokens, token by token, in whole characters: the beginning of a character waits for the
/// tokens that end it. Bytes that are no character become U+FFFD, one for each longest beginning of a character, as in
/// Python's and Hugging Face's decoders. A token or a space with which a model wants texts to begin is left out, and so
/// is a space that the tokenizer appends to texts: a space that may be the last one waits for the text after it.
class TextDecoder {
public:
    /// `tokenizer` must outlive the decoder.
    explicit TextDecoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

    /// The characters that the token completes. Throws: InputError naming a token outside the vocabulary.
    std::string feed(std::int32_t token);
    /// The remaining text when no more tokens follow; the next text may follow.
    std::string finish();

private:
    std::string take(bool more);

    const Tokenizer& tokenizer_;
    std::string pending_;  // no complete character yet
    bool begun_ = false;
};

}  // namespace vkf
