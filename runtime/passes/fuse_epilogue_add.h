// Sums made by the kernel that makes one of their terms.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Lets kernels add, as they write their result (KernelTraits::epilogue_add), what a node of its own would add to it:
/// the gradients of a residual connection, or of values that two ways lead from. Results are the same to the last bit,
/// unless a device contracts the addition with a multiplication before it.
void fuse_epilogue_add(Graph& graph);

}  // namespace vkf
