// Matrix products by straight-line code, for CPU devices that load vectors by shaders/lib/uniform_loads.glsl.
#pragma once

#include <optional>

#include "ops/matmul/gemm.h"

namespace vkf {

/// Configuration of matmul_unrolled.comp for a product; empty if the kernel cannot compute it or others are faster. It
/// takes one matrix in fp32 whose tiles are mostly whole, with so much work that the longer compilation at each start
/// pays. A transposed b is transposed first, or yᵀ = b · aᵀ is computed, whichever transposes fewer numbers.
std::optional<KernelConfig> unrolled_config(const DeviceTraits& device, const GemmShape& shape);

/// Appends the product, as launches of config.chunk terms that add to y. If b is transposed, `scratch` holds bᵀ, or aᵀ
/// and a block of rows of yᵀ.
void append_unrolled(Lowering& lowering, const GemmCall& call, const KernelConfig& config,
                     std::optional<Scratch>& scratch);

}  // namespace vkf
