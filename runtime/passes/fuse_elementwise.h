// Elementwise nodes that follow each other, as one.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Makes one node of two elementwise ones wherever the second alone reads what the first makes and one kernel can do
/// the work of both (ops/elementwise.h), so that the value between them is neither written nor read. Never takes more
/// memory: what the first node reads would else be kept until the second, and may not outweigh the value that goes.
void fuse_elementwise(Graph& graph);

}  // namespace vkf
