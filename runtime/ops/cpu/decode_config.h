// Products of few rows, as in decoding, on CPU devices: configurations of their kernels.
#pragma once

#include <cstdint>
#include <optional>

#include "ops/matmul/gemm_config.h"

namespace vkf {

inline constexpr std::uint32_t cache_line = 16;  // of a processor, in 32-bit words

/// Number of columns of b per workgroup of matmul_decode.comp. Each lane reads cache lines of its own: across columns,
/// or, if b is transposed, down one column, or down four columns if there are as many as in a vocabulary.
std::uint32_t cpu_decode_stripe(const DeviceTraits& device, const GemmShape& shape);

/// Configuration of matmul_decode_unrolled.comp, straight-line code for a device that loads vectors by
/// shaders/lib/uniform_loads.glsl; empty if unsuitable. The code must not become so long that compiling takes seconds:
/// with a transposed b, a workgroup has all of k and some columns; otherwise k is cut, which pays for the pass over the
/// parts only if b comes from memory. Small models do not use the kernel: faster loads save less time than each start
/// spends on longer code.
std::optional<KernelConfig> unrolled_decode_config(const DeviceTraits& device, const GemmShape& shape);

}  // namespace vkf
