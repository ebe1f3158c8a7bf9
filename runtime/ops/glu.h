// Gated linear units (Shazeer, arXiv 2002.05202).
#pragma once

#include "graph/graph.h"
#include "ops/activation.h"

namespace vkf {

/// kind(gate) · up, elementwise, of two products of the same shape; with silu it is SwiGLU. What it makes of the gate
/// is not kept for the derivative.
Tensor glu(Tensor gate, Tensor up, Activation kind);

}  // namespace vkf
