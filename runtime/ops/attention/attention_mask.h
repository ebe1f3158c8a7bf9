// Attention masks: which keys a query sees, for all ops, references and counts on the host. Kernels use
// attention/attention_mask.glsl.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/op.h"

namespace vkf {

/// Mask of one batch row in which t queries and s keys count: query i has position i + s − t, so that the last query is
/// at the last key. Queries, keys and blocks are numbered from 0; a block has `block` positions.
class MaskRow {
public:
    struct Range {
        std::int64_t begin, end;
        bool operator==(const Range&) const = default;
    };

    std::int64_t queries, keys;
    bool causal;                             // hides keys after the query's position
    bool diagonal;                           // hides the key at the query's position
    std::int64_t left, right;                // greatest distance of a block in the window before and after the query's
    std::int64_t dilation;                   // the window has only blocks at multiples of so many from the query's
    std::int64_t block, blocks;              // positions per block; number of blocks of keys, padding included
    std::int64_t global_first, global_last;  // numbers of global blocks
    std::int64_t random;                     // number of random blocks
    std::uint64_t seed;

    std::int64_t position(std::int64_t i) const { return i + keys - queries; }
    /// True if query i sees key j. All other functions follow from this rule.
    bool visible(std::int64_t i, std::int64_t j) const;
    /// Keys that query i visits, in ascending ranges with gaps between them: whole blocks of the pattern, so the ranges
    /// contain all keys that the query sees, and others only because of the diagonal and of dilation. Empty for a query
    /// that does not count.
    std::vector<Range> keys_of(std::int64_t i) const;
    /// Number of visited pairs: the sizes of keys_of(i), summed over all queries.
    double pairs() const;

    /// Random blocks of keys of the queries in a block, ascending: `random` of the blocks that are neither global nor
    /// within reach of the window, or all if there are fewer; with `causal` only earlier ones. All choices are equally
    /// likely, and depend on nothing but these blocks, the seed and the queries' block. Global blocks have none.
    std::vector<std::int64_t> random_blocks(std::int64_t of) const;

private:
    std::int64_t block_of(std::int64_t position) const;
    bool is_global(std::int64_t of) const {
        return (global_first > 0 && of < global_first) || of >= blocks - global_last;
    }
};

/// Mask in which a query sees all keys but those that a member hides. A query that sees none gives zeros and zero
/// gradients.
///
/// Windows, dilation, global and random blocks are one pattern of blocks; with the default of one position per block
/// they count positions. Where a window or a dilation hides keys, global and random blocks show some of them again; a
/// pair that several of these show counts once. `causal`, `diagonal` and lengths hide keys of the whole pattern.
/// Longformer's mask is {.window_left = w, .window_right = w, .global_first = g}, and BigBird's, for blocks of 64,
/// {.window_left = 1, .window_right = 1, .block = 64, .global_first = 1, .global_last = 1, .random_blocks = 3}.
struct AttentionMask {
    bool causal = false;    // hides keys after the query's position; without blocks the same as window_right = 0
    bool diagonal = false;  // hides the key at the query's position
    /// Hide keys more than this many blocks before, or after, the query's; ≥ 0.
    std::optional<std::int64_t> window_left = {}, window_right = {};
    std::int64_t dilation = 1;  // hides keys but those at multiples of so many blocks from the query's; ≥ 1
    std::int64_t block = 1;     // positions per block; ≥ 1
    /// Numbers of global blocks at the beginning and at the end of the S keys, padding included: all queries see their
    /// keys, and their queries see all keys. Positions before the first key are as global as it; ≥ 0.
    std::int64_t global_first = 0, global_last = 0;
    /// Number of other blocks that the queries of each block see, drawn as a function of `random_seed`; ≥ 0.
    std::int64_t random_blocks = 0;
    std::uint64_t random_seed = 0;
    /// Numbers of queries and keys that count in each batch row; the others are padding at the end. i32[B]; key_lengths
    /// also i32[1] for all rows; absent: all count. Clamped to [0, T] and [0, S].
    Tensor query_lengths = {}, key_lengths = {};

    /// Throws InputError for a member outside of its range, or for lengths of the wrong type for `batches` rows.
    void check(std::int64_t batches, const TensorType& query_lengths, const TensorType& key_lengths) const;

    /// Mask of batch row b. The lengths are the contents of the mask's length tensors; empty where the mask has none.
    MaskRow row(std::int64_t queries, std::int64_t keys, std::int64_t b = 0,
                const std::vector<double>& query_lengths = {}, const std::vector<double>& key_lengths = {}) const;

    /// Adds all members but lengths to a kernel's constants; −1 is a window that hides nothing among its queries and
    /// keys.
    void append_pattern(Dispatch& dispatch, std::int64_t queries, std::int64_t keys) const;
    /// Adds lengths to a kernel's constants and to `optional`, the table of attention/attention_args.glsl. The lengths
    /// are the op's inputs at the time of lowering.
    void append_lengths(Dispatch& dispatch, Table& optional, Tensor query_lengths, Tensor key_lengths) const;
    /// Adds the random blocks of each block, and the blocks that drew each block, to a table, which gets more rows.
    void append_random_blocks(Table& table, std::int64_t queries, std::int64_t keys) const;
};

}  // namespace vkf
