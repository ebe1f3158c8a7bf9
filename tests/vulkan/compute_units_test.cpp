// Estimated number of workgroups that a device runs at once, for devices that are not available.
#include "vulkan/device/compute_units.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "device_fixture.h"
#include "program/program.h"

namespace vkf::test {
namespace {

using Units = std::pair<std::uint32_t, std::string>;

Units chosen(const ComputeUnitReport& report) {
    const ComputeUnits made = choose_compute_units(report);
    return {made.count, made.source};
}

constexpr DeviceKind discrete = DeviceKind::discrete;

TEST(HostComputeUnits, AreWhatTheDeviceSays) {
    EXPECT_EQ(chosen({.kind = discrete, .multiprocessors = 132}), Units(132, "VK_NV_shader_sm_builtins"));
    EXPECT_EQ(chosen({.kind = discrete, .engines = 6, .arrays_per_engine = 2, .units_per_array = 8}),
              Units(96, "VK_AMD_shader_core_properties"));
    // Some of the chip's units are switched off.
    EXPECT_EQ(chosen({.kind = discrete, .active = 84, .engines = 6, .arrays_per_engine = 2, .units_per_array = 8}),
              Units(84, "VK_AMD_shader_core_properties2"));
    EXPECT_EQ(chosen({.kind = DeviceKind::integrated, .cores = 10}), Units(10, "VK_ARM_shader_core_builtins"));
    EXPECT_EQ(chosen({.kind = DeviceKind::cpu, .processors = 12}), Units(12, "processors of this machine"));
    EXPECT_EQ(chosen({.kind = DeviceKind::cpu, .processors = 0}).first, 1u);
}

TEST(HostComputeUnits, AreSaidToBeAssumedWhereItDoesNotSay) {
    EXPECT_EQ(chosen({.kind = discrete, .processors = 12}), Units(32, "not known: assumed of discrete GPUs"));
    EXPECT_EQ(chosen({.kind = DeviceKind::integrated}), Units(8, "not known: assumed of integrated GPUs"));
    EXPECT_EQ(chosen({.kind = DeviceKind::virtual_gpu}), Units(16, "not known: assumed of virtual GPUs"));
    EXPECT_EQ(chosen({.kind = discrete, .engines = 6, .arrays_per_engine = 0, .units_per_array = 8}).first, 32u);
}

TEST(HostComputeUnits, AreWhatIsAskedFor) {
    EXPECT_EQ(chosen({.kind = discrete, .multiprocessors = 132, .wanted = "7"}), Units(7, "VKFORMER_COMPUTE_UNITS"));
    EXPECT_EQ(chosen({.kind = DeviceKind::cpu, .processors = 2, .wanted = "65536"}).first, 65536u);
    for (const char* wrong : {"", "0", "-1", "65537", "7 ", "seven", "4294967297"})
        EXPECT_THROW(choose_compute_units({.kind = discrete, .wanted = wrong}), InputError) << wrong;
}

TEST(DeviceComputeUnits, ReachTheOps) {
    const DeviceInfo& info = shared_device().info();
    EXPECT_GE(info.compute_units.count, 1u);
    EXPECT_NE(info.compute_units.source, "");
    EXPECT_EQ(traits(shared_device()).compute_units, info.compute_units.count);
}

}  // namespace
}  // namespace vkf::test
