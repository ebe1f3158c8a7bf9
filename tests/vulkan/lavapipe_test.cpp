#include "vulkan/cpu/lavapipe.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>

#include "base/os/os.h"
#include "vulkan/device/physical_device.h"

namespace vkf {
namespace {

PhysicalDevice device_of(VkDriverId driver, const char* info = "") {
    PhysicalDevice made;
    made.properties12.driverID = driver;
    std::strncpy(made.properties12.driverInfo, info, sizeof made.properties12.driverInfo - 1);
    return made;
}

CpuDriverTraits traits_of(VkDriverId driver, const char* info, std::uint32_t subgroup_size = 8) {
    return cpu_driver_traits(device_of(driver, info), subgroup_size);
}

TEST(HostLavapipe, VectorsAreLoadedByTheVersionsThatAreKnownToDoSo) {
    const auto loads = [](VkDriverId driver, const char* info) { return traits_of(driver, info).loads_vectors; };
    EXPECT_TRUE(loads(VK_DRIVER_ID_MESA_LLVMPIPE, "Mesa 25.0.7-2~bpo12+1 (LLVM 15.0.6)"));
    EXPECT_TRUE(loads(VK_DRIVER_ID_MESA_LLVMPIPE, "Mesa 100.1"));
    EXPECT_FALSE(loads(VK_DRIVER_ID_MESA_LLVMPIPE, "Mesa 22.3.6 (LLVM 15.0.6)"));
    EXPECT_FALSE(loads(VK_DRIVER_ID_MESA_LLVMPIPE, "25.0"));
    EXPECT_FALSE(loads(VK_DRIVER_ID_MESA_RADV, "Mesa 25.0.7"));
}

TEST(HostLavapipe, PushConstantsAreCheckedByMesa25) {
    const auto checks = [](VkDriverId driver, const char* info) { return traits_of(driver, info).checks_pushes; };
    EXPECT_TRUE(checks(VK_DRIVER_ID_MESA_LLVMPIPE, "Mesa 25.0.7-2+deb13u1 (LLVM 19.1.7)"));
    EXPECT_FALSE(checks(VK_DRIVER_ID_MESA_LLVMPIPE, "Mesa 26.1.6 (LLVM 19.1.7)"));
    EXPECT_FALSE(checks(VK_DRIVER_ID_MESA_LLVMPIPE, "Mesa 22.3.6 (LLVM 15.0.6)"));
    EXPECT_FALSE(checks(VK_DRIVER_ID_MESA_RADV, "Mesa 25.0.7"));
}

TEST(HostLavapipe, MatricesAreForSubgroupsOfAtMost8) {
    const auto crashes = [](VkDriverId driver, std::uint32_t subgroup_size) {
        return traits_of(driver, "Mesa 26.1.6", subgroup_size).matrices_crash;
    };
    EXPECT_FALSE(crashes(VK_DRIVER_ID_MESA_LLVMPIPE, 8));
    EXPECT_TRUE(crashes(VK_DRIVER_ID_MESA_LLVMPIPE, 16));
    EXPECT_FALSE(crashes(VK_DRIVER_ID_MESA_RADV, 64));
}

TEST(HostLavapipe, WidthsWithoutRegistersAreRefused) {
    const char* variable = "LP_NATIVE_VECTOR_WIDTH";
    const std::optional<std::string> before = os::environment(variable);
    const auto refusal = [&](VkDriverId driver, const char* width) {
        os::set_environment(variable, width);
        return vector_width_refusal(device_of(driver));
    };
    for (const char* width : {"128", "256", "512", ""}) EXPECT_EQ(refusal(VK_DRIVER_ID_MESA_LLVMPIPE, width), "");
    EXPECT_EQ(refusal(VK_DRIVER_ID_MESA_LLVMPIPE, "64"), "has LP_NATIVE_VECTOR_WIDTH=64, wanted 128, 256 or 512");
    EXPECT_EQ(refusal(VK_DRIVER_ID_MESA_RADV, "64"), "");
    os::set_environment(variable, before);
}

}  // namespace
}  // namespace vkf
