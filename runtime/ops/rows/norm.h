// LayerNorm and RMSNorm.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// (x − mean) / sqrt(var + eps) · weight + bias over the last axis; weight and bias [C] or absent.
Tensor layer_norm(Tensor x, Tensor weight, Tensor bias, float eps);
/// x / sqrt(mean(x²) + eps) · weight over the last axis; weight [C] or absent.
Tensor rms_norm(Tensor x, Tensor weight, float eps);

}  // namespace vkf
