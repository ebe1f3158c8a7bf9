// Tables of positions for grids of patches of another size.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// A table of positions for a grid of `side` · `side` patches, from one for another grid. The first row, the class
/// token's, stays. The others are resampled as a picture of `width` channels: PyTorch's interpolate with
/// mode="bicubic" and align_corners=False, the cubic kernel with a = −0.75 at (i + 1/2) · old side / side − 1/2, with
/// rows at the border repeated and without averaging where the grid becomes smaller.
/// Shapes: table [1 + n · n, width] → [1 + side · side, width].
/// Numerics: double, rounded once.
std::vector<float> resized_positions(std::span<const float> table, std::int64_t width, std::int64_t side);

/// The same table in a graph: the product of a constant matrix with `table`, or `table` itself if the grids are equal.
/// Gradients reach the original table.
/// Shapes: table [1, 1 + n · n, width] → [1, 1 + side · side, width].
/// Numerics: those of matmul, with weights rounded once; each row has at most 16 that are not 0.
Tensor resized_positions(Tensor table, std::int64_t side);

}  // namespace vkf
