// An activation's backward in the epilogue of the product before it.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Finds d_h = d_g · activation'(h) whose d_g is made by a product and read by nobody else. The product then writes d_h
/// itself (Epilogue::activation_backward), and the elementwise node goes. In 16 bits the derivative is taken at the h
/// that is stored, as before; d_g is no longer rounded, d_h is.
///
/// Meant for GPUs: a CPU's kernel for large products, shaders/matmul_unrolled.comp, has no such epilogue.
void fuse_activation_backward(Graph& graph);

}  // namespace vkf
