// Fuses sums into the kernel that makes one of their terms.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Lets kernels add, while they write their result (KernelTraits::epilogue_add), what a separate node would add to it:
/// the gradients of a residual connection, or of values with two uses. Results are the same to the last bit, unless a
/// device contracts the addition with a multiplication before it.
void fuse_epilogue_add(Graph& graph);

}  // namespace vkf
