// For tests of the choice of a product's kernel: shapes, and the kernel without tuning.
#pragma once

#include "ops/matmul/gemm_config.h"

namespace vkf::test {

inline GemmShape size(std::int64_t m, std::int64_t n, std::int64_t k) {
    return {.batches = 1, .m = m, .n = n, .k = k, .transpose_a = false, .transpose_b = false};
}

/// Kernel of a product on a device without tuning.
inline KernelConfig best(const DeviceTraits& device, const GemmShape& shape) {
    return gemm_configs(device, shape).front();
}

}  // namespace vkf::test
