// Kernel of all ops that move elements without changing them.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/op.h"

namespace vkf {

/// One axis of a copy: its extent and its strides in elements in x and y.
struct CopyAxis {
    std::int64_t extent;
    std::int64_t x_stride;
    std::int64_t y_stride;
};

/// Strides in elements of all axes of a tensor, which may be a slice of wider rows.
std::vector<std::int64_t> strides(Tensor);

/// y[y_start + Σ i·y_stride] = x[Σ i·x_stride] over all coordinates i, outermost axis first; zeros if x is no tensor.
/// Throws if more than 6 axes remain after contiguous axes are merged.
Dispatch strided_copy(const DeviceTraits&, Tensor x, Tensor y, const std::vector<CopyAxis>& axes,
                      std::int64_t y_start = 0);

}  // namespace vkf
