// Exponential moving averages of weights.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// averages[i] ← decay · averages[i] + (1 − decay) · values[i] in place, as torch.optim.swa_utils and timm's ModelEma;
/// the new averages. Few dispatches for many tensors. `clip`, [], is the factor that the optimiser's step had: where it
/// is negative that step was skipped, and this is, too.
std::vector<Tensor> moving_average(std::span<const Tensor> averages, std::span<const Tensor> values, Tensor clip,
                                   double decay);

}  // namespace vkf
