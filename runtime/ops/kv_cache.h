// Keys and values that are kept from one run to the next.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Appends rows [B, T, C] to a state [B, S, C] in place, so that it holds `length` (i32, one element) rows afterwards:
/// whole[b, length − T + t] = rows[b, t]. Rows that would lie outside are not stored. Either side may be kept in 16
/// bits, the state as it was asked for. No derivative.
Tensor kv_cache_append(Tensor whole, Tensor rows, Tensor length);

}  // namespace vkf
