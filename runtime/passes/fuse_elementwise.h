// Fuses consecutive elementwise nodes into one.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Fuses two elementwise nodes if only the second reads the result of the first and one kernel can do the work of both
/// (ops/elementwise/elementwise.h), so that the value between them is neither written nor read. Never takes more
/// memory: inputs of the first node that must be kept until the second may not outweigh the removed value.
void fuse_elementwise(Graph& graph);

}  // namespace vkf
