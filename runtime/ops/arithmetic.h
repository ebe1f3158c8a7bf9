// Sums, products and their like, element by element.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace vkf {

/// Elementwise with broadcasting of both sides as in PyTorch: aligned at the end, extents are equal, or one of them is
/// 1 or lacking.
Tensor add(Tensor a, Tensor b);
Tensor sub(Tensor a, Tensor b);
Tensor mul(Tensor a, Tensor b);
Tensor div(Tensor a, Tensor b);
/// factor · x
Tensor scale(Tensor x, float factor);
/// A tensor of one value.
Tensor fill(Graph& graph, Shape shape, float value);
/// The number that `fill` made all of x, if it did.
std::optional<float> filled_with(Tensor x);

}  // namespace vkf
