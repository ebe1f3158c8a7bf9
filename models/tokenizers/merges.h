// Byte-pair encoding proper: of all pairs of neighbours, the one of lowest rank is joined, until none is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/tokenizers/tokenizer.h"

namespace vkf {

/// Two tokens that are joined where they are neighbours, and what they become.
struct Merge {
    std::int32_t left, right, token;
};

/// Merges by their pair, each with its rank: its place in the list that it is made of.
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

    std::vector<Entry> entries_;  // open addressing; a power of two of them, at most half of them used
    int shift_;
};

/// Joins the tokens of words; keeps its memory from word to word.
class Merger {
public:
    /// `tokens` becomes what is left when nothing can be joined any more; of pairs of equal rank the leftmost is joined
    /// first. Takes n log n steps for n tokens.
    void merge(const MergeTable& merges, Tokens& tokens);

private:
    struct Neighbours {
        std::int32_t previous, next;  // places; −1 is none
    };
    struct Candidate {
        std::int32_t rank, at;
    };
    /// The heap's front is of lowest rank, and of these the leftmost.
    static bool later(Candidate a, Candidate b);
    void consider(const MergeTable& merges, const Tokens& tokens, std::int32_t at);

    std::vector<Neighbours> neighbours_;
    std::vector<Candidate> heap_;
};

}  // namespace vkf
