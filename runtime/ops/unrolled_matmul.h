// Matrix products by straight-line code, for CPU devices that make vectors of loads (shaders/lib/uniform_loads.glsl).
#pragma once

#include <optional>

#include "ops/gemm.h"

namespace vkf {

/// How matmul_unrolled.comp computes it, nothing if it does not or if others are faster: one matrix in fp32 whose
/// tiles are mostly whole, of so much work that what a start spends on longer code is little. A transposed b is turned
/// round first, or yᵀ = b · aᵀ is computed, whichever transposes fewer numbers.
std::optional<KernelConfig> unrolled_config(const DeviceTraits& device, const GemmShape& shape);

/// Appends the product, by launches of config.chunk terms that add to y. If b is transposed, `scratch` is where bᵀ
/// goes, or aᵀ and the rows of yᵀ of which there is room.
void append_unrolled(Lowering& to, const GemmCall& of, const KernelConfig& config, std::optional<Scratch>& scratch);

}  // namespace vkf
