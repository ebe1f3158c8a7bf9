// Values made where they will be wanted, instead of copied there.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Lets kernels write what is only to be set beside other values straight into its place, where they can: the gradients
/// of queries, keys and values into that of the product they are slices of. Results are the same to the last bit.
void place_parts(Graph& graph);

}  // namespace vkf
