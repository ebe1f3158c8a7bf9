// Cross-entropy of rows of logits with a weight for every class.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Mean over rows of Σ_j targets_j · (log Σ exp(logits) − logits_j), both [..., V] → []. Targets are weights, which add
/// up to 1 for smoothed and mixed labels. They are data without a derivative.
Tensor soft_cross_entropy(Tensor logits, Tensor targets);

}  // namespace vkf
