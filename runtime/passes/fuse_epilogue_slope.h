// Derivatives of activations taken by the products that make the gradients which they are factors of.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Lets a product that makes the gradient by an activation's value multiply it by the activation's derivative as it
/// writes: that is the gradient by the activation's argument, and no node of its own reads and writes it once more.
/// Where activations are kept in 16 bits the derivative is still taken at the argument as it is kept; of the gradient,
/// which was rounded before and after, only the second rounding is left.
///
/// For GPUs: of a CPU's kernels those for large products have no such end (shaders/matmul_unrolled.comp).
void fuse_epilogue_slope(Graph& graph);

}  // namespace vkf
