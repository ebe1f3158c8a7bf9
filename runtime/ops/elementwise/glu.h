// Gated linear units (Shazeer, arXiv 2002.05202).
#pragma once

#include "graph/graph.h"
#include "ops/elementwise/activation.h"

namespace vkf {

/// kind(gate) · up, elementwise, of two products of the same shape; SwiGLU with silu. kind(gate) is not kept for the
/// derivative.
Tensor glu(Tensor gate, Tensor up, Activation kind);

}  // namespace vkf
