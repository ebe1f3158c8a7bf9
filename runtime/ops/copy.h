// The kernel behind every op that moves elements without changing them.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/op.h"

namespace vkf {

/// One axis of a copy: its extent and the elements between neighbours along it on either side.
struct CopyAxis {
    std::int64_t extent;
    std::int64_t x_stride;
    std::int64_t y_stride;
};

/// Elements between neighbours along each axis of a tensor, which may be a slice of wider rows.
std::vector<std::int64_t> strides(Tensor);

/// y[y_start + Σ i·y_stride] = x[Σ i·x_stride] over all coordinates i, outermost axis first; zeros where x is no
/// tensor. Throws if more than 6 axes remain when those that run on into each other are merged.
Dispatch strided_copy(const DeviceTraits&, Tensor x, Tensor y, const std::vector<CopyAxis>& axes,
                      std::int64_t y_start = 0);

}  // namespace vkf
