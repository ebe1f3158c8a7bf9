// Learning a byte-level byte-pair encoding from texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "models/tokenizers/bpe.h"

namespace vkf {

/// Counts the words of texts and joins, again and again, the two neighbours that come together most often. Pairs that
/// come equally often go by the tokens' numbers, the left one's first, lowest first: the order of texts and the machine
/// make no difference.
class BpeLearner {
public:
    /// With GPT-2's way of cutting words.
    BpeLearner();

    /// Counts the words of one more text. Throws: InputError naming the byte that is not UTF-8.
    void add(std::string_view text);

    /// A vocabulary of `size` tokens: all bytes in GPT-2's order, what has been joined in the order of joining, and
    /// <|endoftext|>, which ends texts.
    /// Throws: InputError if `size` is too small for bytes and <|endoftext|>, or so large that pairs would be joined
    /// that come but once, naming the largest possible.
    BpeModel learn(std::size_t size) const;

private:
    std::vector<Split> splits_;
    PreTokenizer pre_tokenizer_;
    std::unordered_map<std::string, std::int64_t> words_;
};

}  // namespace vkf
