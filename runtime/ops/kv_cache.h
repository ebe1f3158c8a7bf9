// Keys and values that are kept from one run to the next.
#pragma once

#include "graph/graph.h"

namespace vkf {

struct KeysAndValues {
    Tensor keys, values;
};

/// Appends rows [B, T, C] to states [B, S, C] in place, so that sequence b holds lengths[b] rows afterwards:
/// cache[b, lengths[b] − T + t] = rows[b, t], by one kernel for keys and values, whose widths may differ. Lengths are
/// i32 [B], or i32 [1] for all. Rows that would lie outside are not stored. Either side may be kept in 16 bits, the
/// states as they were asked for. No derivative.
KeysAndValues kv_cache_append(const KeysAndValues& cache, const KeysAndValues& rows, Tensor lengths);

/// Copies the first rows of one sequence [1, S, C] to a sequence of a state [B, S, C] in place: whole[b, s] = one[0, s]
/// for s < n, where `place` is i32 [2] of b and n. Nothing is stored outside. Formats as above. No derivative.
Tensor kv_cache_copy(Tensor whole, Tensor one, Tensor place);

}  // namespace vkf
