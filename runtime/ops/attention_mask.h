// Who sees whom in attention: for every op, reference and count on the host. Kernels ask lib/attention_mask.glsl.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/op.h"

namespace vkf {

/// The mask of one batch row, of which t queries and s keys count: query i stands at position i + s − t, so that the
/// last query stands at the last key. Queries and keys are numbered from 0.
class MaskRow {
public:
    struct Range {
        std::int64_t begin, end;
    };

    std::int64_t queries, keys;
    std::int64_t left, right;  // how far from its position a query sees
    bool diagonal;             // but not the key at its position

    std::int64_t position(std::int64_t i) const { return i + keys - queries; }
    /// The rule. All other functions follow from it.
    bool visible(std::int64_t i, std::int64_t j) const;
    /// The keys [begin, end) outside of which query i sees none; empty for a query that does not count.
    Range keys_of(std::int64_t i) const;
    /// How many pairs are looked at: all of keys_of(i), for every query.
    double pairs() const;
};

/// Which keys a query sees: all but those that a member hides. A query that sees none gives zeros, and zero gradients.
struct AttentionMask {
    bool causal = false;    // none after its position; the same as window_right = 0
    bool diagonal = false;  // not the one at its position
    /// None that lie more than so many before, or after, its position; ≥ 0.
    std::optional<std::int64_t> window_left = {}, window_right = {};
    /// How many queries and keys of each batch row count, the others being padding at the end: i32[B], key_lengths also
    /// i32[1] for all rows; else all of them. Above T or S it is T or S, below 0 it is 0.
    Tensor query_lengths = {}, key_lengths = {};

    /// Throws: InputError for a negative window or lengths of another type than wanted for `batches` rows.
    void check(std::int64_t batches, const TensorType& query_lengths, const TensorType& key_lengths) const;

    /// Row b of lengths given as the arrays that their tensors hold, which are empty where the mask has none.
    MaskRow row(std::int64_t queries, std::int64_t keys, std::int64_t b = 0,
                const std::vector<double>& query_lengths = {}, const std::vector<double>& key_lengths = {}) const;

    /// Tells kernels of T queries and S keys: their constants are what hides anything there …
    void append_windows(Dispatch& to, std::int64_t queries, std::int64_t keys) const;
    /// … and of the lengths, which the kernels' op gives as it has them now and which lie in `optional`,
    /// lib/attention_args.glsl's table.
    void append_lengths(Dispatch& to, Table& optional, Tensor query_lengths, Tensor key_lengths) const;
};

}  // namespace vkf
