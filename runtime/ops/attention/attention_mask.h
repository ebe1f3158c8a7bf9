// Attention masks: which keys a query sees, for all ops, references and counts on the host. Kernels use
// attention/attention_mask.glsl.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/op.h"

namespace vkf {

/// Mask of one batch row in which t queries and s keys count: query i has position i + s − t, so that the last query is
/// at the last key. Queries and keys are numbered from 0.
class MaskRow {
public:
    struct Range {
        std::int64_t begin, end;
    };

    std::int64_t queries, keys;
    std::int64_t left, right;  // greatest distance of a visible key before and after the query's position
    bool diagonal;             // hides the key at the query's position

    std::int64_t position(std::int64_t i) const { return i + keys - queries; }
    /// True if query i sees key j. All other functions follow from this rule.
    bool visible(std::int64_t i, std::int64_t j) const;
    /// Keys [begin, end) that contain all keys seen by query i; empty for a query that does not count.
    Range keys_of(std::int64_t i) const;
    /// Number of visited pairs: the sizes of keys_of(i), summed over all queries.
    double pairs() const;
};

/// Mask in which a query sees all keys but those that a member hides. A query that sees none gives zeros and zero
/// gradients.
struct AttentionMask {
    bool causal = false;    // hides keys after the query's position; same as window_right = 0
    bool diagonal = false;  // hides the key at the query's position
    /// Hide keys more than this many positions before, or after, the query's position; ≥ 0.
    std::optional<std::int64_t> window_left = {}, window_right = {};
    /// Numbers of queries and keys that count in each batch row; the others are padding at the end. i32[B]; key_lengths
    /// also i32[1] for all rows; absent: all count. Clamped to [0, T] and [0, S].
    Tensor query_lengths = {}, key_lengths = {};

    /// Throws InputError for a negative window, or for lengths of the wrong type for `batches` rows.
    void check(std::int64_t batches, const TensorType& query_lengths, const TensorType& key_lengths) const;

    /// Mask of batch row b. The lengths are the contents of the mask's length tensors; empty where the mask has none.
    MaskRow row(std::int64_t queries, std::int64_t keys, std::int64_t b = 0,
                const std::vector<double>& query_lengths = {}, const std::vector<double>& key_lengths = {}) const;

    /// Adds windows and diagonal to a kernel's constants; −1 is a window that hides nothing among its queries and keys.
    void append_windows(Dispatch& dispatch, std::int64_t queries, std::int64_t keys) const;
    /// Adds lengths to a kernel's constants and to `optional`, the table of attention/attention_args.glsl. The lengths
    /// are the op's inputs at the time of lowering.
    void append_lengths(Dispatch& dispatch, Table& optional, Tensor query_lengths, Tensor key_lengths) const;
};

}  // namespace vkf
