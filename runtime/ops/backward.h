// Reverse-mode differentiation: appends to a graph the nodes that compute gradients.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace vkf {

struct GradientOptions {
    /// Recomputes values inside the graph's regions instead of keeping them for derivatives: each region's right before
    /// its backward pass, from the region's inputs. The gradients are bitwise the same.
    bool recompute = false;
};

/// Gradients of a scalar with respect to each of `wrt`; no tensor where the scalar does not depend on it.
/// Throws InputError if an op between them has no derivative.
std::vector<Tensor> gradients(Tensor loss, std::span<const Tensor> wrt, const GradientOptions& options = {});

/// Gradients of Σ <d_outputs[i], outputs[i]>, the general form.
std::vector<Tensor> gradients(std::span<const Tensor> outputs, std::span<const Tensor> d_outputs,
                              std::span<const Tensor> wrt, const GradientOptions& options = {});

}  // namespace vkf
