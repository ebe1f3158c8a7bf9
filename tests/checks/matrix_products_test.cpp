// Products that are tried before a driver's cooperative matrices are used.
#include "checks/device/matrix_products.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "device_fixture.h"
#include "vulkan/device/device.h"

namespace vkf::test {

TEST(DeviceCooperativeMatrixProducts, AreRight) {
    // Mesa's flexible matrices of a subgroup, computed by the kernel for those of a workgroup.
    Device device(wanted_device(), [](DeviceInfo& info) {
        if (info.workgroup_matrices.empty() && info.flexible_matrices)
            info.workgroup_matrices.push_back({info.subgroup_size, MatrixElement::fp16});
    });
    const std::vector<checks::MatrixProduct> list = checks::matrix_products(device);
    if (list.empty()) GTEST_SKIP() << device.info().name << " has no cooperative matrices";
    for (const checks::MatrixProduct& product : list)
        EXPECT_EQ(product.fault(device), "") << product.part << ' ' << product.name;
    const auto has = [&](const char* part) { return std::ranges::count(list, part, &checks::MatrixProduct::part) > 0; };
    EXPECT_TRUE(has("fp16") || has("bf16"));
    EXPECT_EQ(has("workgroup"), !device.info().workgroup_matrices.empty());
}

}  // namespace vkf::test
