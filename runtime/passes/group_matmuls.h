// Groups products of the same few rows by several weights into one node.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Groups products of one tensor of at most 4 rows, as in decoding: queries, keys and values; gate and up. The other
/// factors and biases must be inputs, states or constants, so that all products can be computed at the first one.
void group_matmuls(Graph& graph);

}  // namespace vkf
