// The loss of rows of logits against one target each.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Mean over the rows with a target ≥ 0 of log Σ exp(logits) − logits[target]: logits [..., V], targets i32 [...] → [].
/// The gradient may take the logits' own memory. No row with a target: loss and gradient are 0.
Tensor cross_entropy(Tensor logits, Tensor targets);

}  // namespace vkf
