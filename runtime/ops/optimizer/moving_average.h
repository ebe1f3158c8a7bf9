// Exponential moving averages of weights.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// averages[i] ← decay · averages[i] + (1 − decay) · values[i] in place, as torch.optim.swa_utils and timm's ModelEma;
/// returns the new averages. Few dispatches for many tensors. `clip`, [], is the clip factor of the optimiser's step: a
/// negative one, which skips that step, also skips this update.
std::vector<Tensor> moving_average(std::span<const Tensor> averages, std::span<const Tensor> values, Tensor clip,
                                   double decay);

}  // namespace vkf
