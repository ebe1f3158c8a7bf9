// Fuses an activation's backward into the epilogue of the product before it.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Fuses d_h = d_g · activation'(h) into the product that makes d_g, if no other node reads d_g. The product then
/// writes d_h itself (Epilogue::activation_backward), and the elementwise node is removed. In 16 bits the derivative is
/// still taken at the stored h; d_g is no longer rounded, d_h is.
///
/// Meant for GPUs: a CPU's kernel for large products, shaders/matmul/matmul_unrolled.comp, has no such epilogue.
void fuse_activation_backward(Graph& graph);

}  // namespace vkf
