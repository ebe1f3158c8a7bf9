// Sums along axes, and their adjoint.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// Σ over the last axis: [..., C] → [..., 1].
Tensor row_sum(Tensor x);
/// Σ over all rows, each times its factor: [..., C] → [C]. Fixed order, two passes. row_scale, if any, has x's leading
/// extents and ones after them.
Tensor column_sum(Tensor x, Tensor row_scale = {});
/// Sums x down to a shape that broadcasts to it: the adjoint of broadcasting.
Tensor sum_to(Tensor x, const Shape& shape);
/// Repeats x up to a shape it broadcasts to.
Tensor broadcast_to(Tensor x, const Shape& shape);

}  // namespace vkf
