// Cross-entropy of rows of logits with one target each.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Mean over the rows with a target ≥ 0 of log Σ exp(logits) − logits[target]: logits [..., V], targets i32 [...] → [].
/// The gradient may overwrite the logits' memory. If no row has a target, loss and gradient are 0.
Tensor cross_entropy(Tensor logits, Tensor targets);

}  // namespace vkf
