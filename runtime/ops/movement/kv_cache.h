// Keys and values kept between runs.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace vkf {

struct KeysAndValues {
    Tensor keys, values;
};

/// Appends rows [B, T, C] to states [B, S, C] in place, so that sequence b holds lengths[b] rows afterwards:
/// cache[b, lengths[b] − T + t] = rows[b, t], by one kernel for keys and values, whose widths may differ. Lengths are
/// i32 [B], or i32 [1] for all. Rows outside the states are not stored. Rows and states may be kept in 16 bits, the
/// states in the format requested for them. No derivative.
KeysAndValues kv_cache_append(const KeysAndValues& cache, const KeysAndValues& rows, Tensor lengths);
/// The same for one tensor, whose rows are followed by `behind` more that are not stored:
/// cache[b, lengths[b] − behind − T + t] = rows[b, t].
Tensor kv_cache_append(Tensor cache, Tensor rows, Tensor lengths, std::int64_t behind = 0);

/// Copies the first rows of one sequence [1, S, C] to a sequence of a state [B, S, C] in place: whole[b, s] = one[0, s]
/// for s < n; `place` is i32 [2] with b and n. Rows outside the state are not stored. Formats as in kv_cache_append().
/// No derivative.
Tensor kv_cache_copy(Tensor whole, Tensor one, Tensor place);

/// Reorders the beams of a beam search in place. A state [G·K, S, C] has K = `beams` neighbouring sequences for each of
/// G groups, and sequence b of group g continues what was sequence parents[g·K + b] of the group:
/// state[g·K + b, s] = state[g·K + parents[g·K + b], s] for s < lengths[g], where the right side is the state before.
/// Later rows are not changed. `parents` is i32 [G·K] with values 0 … K − 1, which the host guarantees and the device
/// clamps; `lengths` is i32 [G]; K is at most 16. The state may be kept in 16 bits; its bits are moved as they are. No
/// derivative.
Tensor kv_cache_reorder(Tensor state, Tensor parents, Tensor lengths, std::int64_t beams);

/// Rule by which a cache of fewer rows than a text has positions drops positions that no query sees any more.
struct CacheRoll {
    std::int64_t first = 0;  // the first positions that are never dropped
    std::int64_t step = 1;   // positions that are dropped at a time

    /// Positions that a cache of `rows` rows has dropped when a text has `length` positions: the smallest multiple of
    /// `step` with which the others fit.
    std::int64_t dropped(std::int64_t length, std::int64_t rows) const;
};

struct RolledCache {
    KeysAndValues cache;
    Tensor lengths;  // i32 [B]: rows of each sequence in the cache
};

/// Makes room for `fresh` more positions in states [B, S, C], in place, so that sequence b has `lengths[b]` positions
/// afterwards. Position p is in row p if p < first, and else in row p − dropped(lengths[b], S); the result's lengths
/// are lengths[b] − dropped(lengths[b], S), for kv_cache_append(). Before, the states hold the other lengths[b] − fresh
/// positions by the same rule. Lengths are i32 [B]. S is at least first + step + fresh. States may be kept in 16 bits;
/// their bits are moved as they are. No derivative.
RolledCache kv_cache_roll(const KeysAndValues& cache, Tensor lengths, const CacheRoll& roll, std::int64_t fresh);

}  // namespace vkf
