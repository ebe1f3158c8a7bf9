// Elementwise arithmetic, and constant tensors.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace vkf {

/// Elementwise with broadcasting of both sides as in PyTorch: aligned at the end, extents are equal, or one of them is
/// 1 or missing.
Tensor add(Tensor a, Tensor b);
Tensor sub(Tensor a, Tensor b);
Tensor mul(Tensor a, Tensor b);
Tensor div(Tensor a, Tensor b);
/// factor · x
Tensor scale(Tensor x, float factor);
/// Tensor with all elements `value`.
Tensor fill(Graph& graph, Shape shape, float value);
/// Value of x if fill() made x, else nullopt.
std::optional<float> filled_with(Tensor x);

}  // namespace vkf
