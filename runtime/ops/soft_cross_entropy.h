// The loss of rows of logits against weights.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Mean over rows of Σ_j targets_j · (log Σ exp(logits) − logits_j), both [..., V] → []: cross-entropy against weights,
/// which for smoothed and mixed labels add up to 1. Targets are data, without a derivative.
Tensor soft_cross_entropy(Tensor logits, Tensor targets);

}  // namespace vkf
