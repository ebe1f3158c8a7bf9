// Learns a byte-level byte-pair encoding from texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/tokenizers/bpe/bpe.h"

namespace vkf {

/// Counts the words of texts and repeatedly joins the two neighbours that occur together most often. Pairs with equal
/// counts are ordered by the tokens' numbers, the left one's first, lowest first: the order of texts and the machine
/// make no difference.
class BpeLearner {
public:
    /// Cuts words as GPT-2 does.
    BpeLearner();

    /// Counts the words of one more text.
    void add(std::string_view text) {
        feed(text);
        finish();
    }
    /// Count a text in portions of whole characters. Throws: InputError naming the portion's byte that is not UTF-8.
    void feed(std::string_view text);
    void finish();

    /// A vocabulary of `size` tokens: all bytes in GPT-2's order, joined tokens in the order of joining, and the
    /// special tokens, the first of which ends texts. `watch` is called with the vocabulary's size as it grows.
    /// Throws: InputError if `size` is too small for bytes and special tokens, or so large that pairs that occur only
    /// once would be joined, naming the largest possible size; for a special token that is empty or has another token's
    /// name.
    BpeModel learn(std::size_t size, std::span<const std::string> special = ENDS_TEXTS,
                   const std::function<void(std::size_t)>& watch = {}) const;

private:
    static const std::vector<std::string> ENDS_TEXTS;  // <|endoftext|>

    void cut(bool more);

    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };

    std::vector<Split> splits_;
    PreTokenizer pre_tokenizer_;
    std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> words_;
    std::string pending_;  // may be part of a word
    std::size_t wanted_;   // bytes to collect before the next cut into words
};

}  // namespace vkf
