// Value heads repeated for the grouped queries that share them.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace vkf {

/// [..., heads·D] → [..., heads·repeat·D], each head `repeat` times, side by side, as grouped queries see it.
Tensor repeat_heads(Tensor x, std::int64_t heads, std::int64_t repeat);
/// v repeated to the width of o, for query heads that share `value_heads` value heads; v itself if it is as wide.
Tensor match_heads(Tensor v, Tensor o, std::int64_t value_heads);

}  // namespace vkf
