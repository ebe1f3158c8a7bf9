// Byte-pair merging: joins the pair of neighbours with the lowest rank until no pair can be joined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/tokenizers/tokenizer.h"

namespace vkf {

/// Two tokens that are joined if they are neighbours, and the resulting token.
struct Merge {
    std::int32_t left, right, token;
};

/// A pair of tokens as one number.
constexpr std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

/// Merges by their pair, each with its rank, which is its index in the list.
class MergeTable {
public:
    /// No two merges may have the same pair.
    explicit MergeTable(const std::vector<Merge>& merges);

    struct Entry {
        std::uint64_t pair;
        std::int32_t rank, token;
    };
    /// The entry of a pair, or null.
    const Entry* find(std::int32_t left, std::int32_t right) const;

private:
    std::size_t slot(std::uint64_t pair) const;

    std::vector<Entry> entries_;  // open addressing; their number is a power of two, at most half are used
    int shift_;
};

/// Order of joins, which matters where a join makes a pair of lower rank than its own. `each`: the pair of lowest rank
/// is chosen again after every join. `rounds`: all occurrences of the pair are joined, from left to right, before the
/// next pair is chosen (Sennrich, Haddow and Birch 2016).
enum class MergeOrder { each, rounds };

/// Joins the tokens of words; keeps its memory from word to word.
class Merger {
public:
    /// Joins neighbours in `tokens` until no pair can be joined; of pairs of equal rank the leftmost is joined first.
    /// Takes n log n steps for n tokens.
    void merge(const MergeTable& merges, Tokens& tokens, MergeOrder order = MergeOrder::each);

private:
    struct Neighbours {
        std::int32_t previous, next;  // places; −1 is none
    };
    struct Candidate {
        std::int32_t rank, at;
    };
    /// Order of the heap: its front has the lowest rank, and of these is the leftmost.
    static bool later(Candidate a, Candidate b);
    void consider(const MergeTable& merges, const Tokens& tokens, std::int32_t at);
    void queue_made();

    std::vector<Neighbours> neighbours_;
    std::vector<Candidate> heap_, made_;  // made_: found by joins, not in the heap yet
};

}  // namespace vkf
