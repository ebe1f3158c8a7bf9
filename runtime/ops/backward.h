// Reverse-mode differentiation: appends to a graph the nodes that compute gradients.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace vkf {

struct GradientOptions {
    /// Values inside the graph's regions are not kept for their derivatives but computed again, each region's right
    /// before its backward pass, from what the region reads. The gradients are the same to the last bit.
    bool recompute = false;
};

/// Gradients of a scalar with respect to each of `wrt`; no tensor where the scalar does not depend on it.
/// Throws InputError if an op on the way has no derivative.
std::vector<Tensor> gradients(Tensor loss, std::span<const Tensor> wrt, const GradientOptions& options = {});

/// The general form: gradients of Σ <d_outputs[i], outputs[i]>.
std::vector<Tensor> gradients(std::span<const Tensor> outputs, std::span<const Tensor> d_outputs,
                              std::span<const Tensor> wrt, const GradientOptions& options = {});

}  // namespace vkf
