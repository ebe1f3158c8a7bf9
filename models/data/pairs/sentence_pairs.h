// Pairs of sentences in tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/data/pairs/parallel_text.h"
#include "models/tokenizers/tokenizer.h"

namespace vkf {

/// Sources and targets in tokens, each with the token that ends it.
class SentencePairs {
public:
    /// Encodes a text. A pair is left out if its source or its target, with the end, has more than `longest` tokens.
    /// Throws: InputError naming file and line of a sentence that cannot be encoded, and if no pair is left.
    SentencePairs(const ParallelText& text, const Tokenizer& source, const Tokenizer& target, std::int32_t end,
                  std::int64_t longest);

    std::size_t size() const { return kept_.size(); }
    std::span<const std::int32_t> source(std::size_t i) const { return sentence(2 * i); }
    std::span<const std::int32_t> target(std::size_t i) const { return sentence(2 * i + 1); }
    /// Length of the longer of the two.
    std::int64_t length(std::size_t i) const;
    /// Index of pair `i` in the text.
    std::size_t line(std::size_t i) const { return kept_[i]; }

    /// Number of pairs that are left out.
    std::size_t too_long() const { return too_long_; }
    /// Number of tokens of all targets.
    std::int64_t target_tokens() const { return target_tokens_; }

private:
    std::span<const std::int32_t> sentence(std::size_t at) const {
        return std::span(tokens_).subspan(begins_[at], begins_[at + 1] - begins_[at]);
    }

    Tokens tokens_;  // source 0, target 0, source 1, …
    std::vector<std::size_t> begins_{0};
    std::vector<std::size_t> kept_;
    std::size_t too_long_ = 0;
    std::int64_t target_tokens_ = 0;
};

}  // namespace vkf
