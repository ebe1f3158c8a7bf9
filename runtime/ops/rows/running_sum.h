// Sums of all earlier rows.
#pragma once

#include "graph/graph.h"

namespace vkf {

struct RunningSums {
    Tensor before;  // [B, C, W]: initial + Σ of x's rows before row c
    Tensor total;   // [B, W]: initial + Σ of all rows
};

/// Sums along the middle axis of x [B, C, W], from its first row to its last, or, in reverse, from the last to the
/// first; initial [B, W], or absent for zeros. Sums in fp32, in the order of the rows; neither x nor the sums are kept
/// in 16 bits. The derivative is the same op in the other direction and saves nothing.
RunningSums running_sums(Tensor x, Tensor initial = {}, bool reverse = false);

}  // namespace vkf
