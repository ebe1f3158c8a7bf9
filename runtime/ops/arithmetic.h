// Sums, products and their like, element by element.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace vkf {

/// Elementwise with broadcasting of either side: an operand may lack leading extents, and its extents that are not 1
/// must be one contiguous run equal to the other's (a bias, one number per row, positions over a batch, a scalar).
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
