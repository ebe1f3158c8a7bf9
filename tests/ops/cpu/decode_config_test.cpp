// Products of few rows on CPU devices: choice of the kernel.
#include "ops/cpu/decode_config.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "ops/gpu_traits.h"
#include "ops/matmul/gemm_shape.h"

namespace vkf::test {
namespace {

TEST(HostDecodeConfig, DecodingIsUnrolledWhereThatLoadsVectorsAndIsShort) {
    DeviceTraits device;
    device.subgroup_size = 16;
    const auto stripe = [&](std::int64_t m, std::int64_t n, std::int64_t k, bool transpose_b) {
        GemmShape shape = size(m, n, k);
        shape.transpose_b = transpose_b;
        const KernelConfig made = best(device, shape);
        return made.kernel == "matmul_decode_unrolled" ? static_cast<int>(constants(made)["STRIPE"]) : 0;
    };
    EXPECT_EQ(stripe(1, 49152, 576, true), 0) << "the device makes no vectors of loads";
    device.uniform_loads = true;
    EXPECT_EQ(stripe(1, 49152, 576, true), 8);
    EXPECT_EQ(stripe(1, 576, 1536, true), 4);
    EXPECT_EQ(stripe(1, 576, 1540, true), 0) << "too long";
    EXPECT_EQ(stripe(1, 1 << 19, 576, true), 0) << "too many workgroups for their digits";
    EXPECT_EQ(stripe(1, 300, 300, true), 0) << "little to load";
    EXPECT_EQ(stripe(1, 300, 400, true), 8);
    EXPECT_EQ(stripe(1, 40, 16384, false), 0) << "not one whole stripe";
    EXPECT_EQ(stripe(1, 2304, 768, false), 64);
    EXPECT_EQ(best(device, size(1, 2304, 768)).splits, 12);
    EXPECT_EQ(stripe(1, 512, 512, false), 0) << "k is cut where b comes from memory";
    EXPECT_EQ(stripe(5, 2304, 768, false), 0);
    GemmShape packed = size(1, 2304, 768);
    packed.packed_factors = true;
    EXPECT_EQ(best(device, packed).kernel, "matmul_decode");
}

}  // namespace
}  // namespace vkf::test
