// Keys and values that are kept from one run to the next.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Appends rows [B, T, C] to a state [B, S, C] in place, so that sequence b holds lengths[b] rows afterwards:
/// whole[b, lengths[b] − T + t] = rows[b, t]. Lengths are i32 [B], or i32 [1] for all. Rows that would lie outside are
/// not stored. Either side may be kept in 16 bits, the state as it was asked for. No derivative.
Tensor kv_cache_append(Tensor whole, Tensor rows, Tensor lengths);

/// Copies the first rows of one sequence [1, S, C] to a sequence of a state [B, S, C] in place: whole[b, s] = one[0, s]
/// for s < n, where `place` is i32 [2] of b and n. Nothing is stored outside. Formats as above. No derivative.
Tensor kv_cache_copy(Tensor whole, Tensor one, Tensor place);

}  // namespace vkf
