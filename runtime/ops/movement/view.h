// The same elements in other shapes, parts and orders.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// The same elements under another shape; no kernel, x contiguous (else copied first).
Tensor reshape(Tensor x, Shape shape);
/// Slices of the last axis, one per width, that together cover it; views, no kernel.
std::vector<Tensor> split(Tensor x, std::span<const std::int64_t> widths);
/// Parts side by side along the last axis: the inverse of split.
Tensor concat(std::span<const Tensor> parts);
/// Elements [start, start + count) of an axis. A view where the result's rows are at equal distances (columns; the
/// first axis or one row of another axis of a contiguous tensor), else a copy.
Tensor slice(Tensor x, int axis, std::int64_t start, std::int64_t count);
/// Axes in another order, copied (a view if only axes of extent 1 move); up to 6 axes.
Tensor permute(Tensor x, std::span<const int> axes);
/// x itself, or a dense copy if x is a slice of wider rows.
Tensor contiguous(Tensor x);

}  // namespace vkf
