// Products of the same few rows by several weights as one node.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Groups products of one tensor of at most 4 rows, as in decoding: queries, keys and values; gate and up. The other
/// factors and biases are inputs, states or constants, so that all can be computed where the first one is.
void group_matmuls(Graph& graph);

}  // namespace vkf
