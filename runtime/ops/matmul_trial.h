// Which of its kernels computes a matrix product: asked of the device where there is somebody to ask.
#pragma once

#include "graph/chooser.h"
#include "ops/matmul_lowering.h"

namespace vkf {

/// The kernel for a product: the chooser's, or without one the model's pick.
Tiling tiling(const DeviceTraits& device, const ProductCall& of);

/// What a chooser is asked about the product: `list` are its candidates. Products of one kind have the same layout,
/// formats and alignment, and the same extents when these are rounded up to powers of two.
Question question(const DeviceTraits& device, const ProductCall& of, std::span<const Tiling> list);

}  // namespace vkf
