// Keys and values kept between runs.
#pragma once

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

/// Copies the first rows of one sequence [1, S, C] to a sequence of a state [B, S, C] in place: whole[b, s] = one[0, s]
/// for s < n; `place` is i32 [2] with b and n. Rows outside the state are not stored. Formats as in kv_cache_append().
/// No derivative.
Tensor kv_cache_copy(Tensor whole, Tensor one, Tensor place);

}  // namespace vkf
