// Gradients as one vector: accumulation, zeros, norm.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// targets[i] += factor · values[i] in place; returns the new targets. Few dispatches for many tensors.
std::vector<Tensor> accumulate(std::span<const Tensor> targets, std::span<const Tensor> values, float factor);
/// targets[i] = 0 in place.
std::vector<Tensor> zero(std::span<const Tensor> targets);

struct GlobalNorm {
    Tensor norm;  // []
    Tensor clip;  // [] min(1, limit / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_; 1 if there is no limit
};

/// The Euclidean norm of all gradients as one vector, summed in a fixed order, and the factor that brings it down to
/// the limit (0: none). If the norm is not finite, the factor is -1, which skips the step.
GlobalNorm global_norm(std::span<const Tensor> gradients, float limit = 0.0f);

}  // namespace vkf
