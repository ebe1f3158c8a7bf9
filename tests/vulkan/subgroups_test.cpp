#include "vulkan/device/subgroups.h"

#include <gtest/gtest.h>

namespace vkf {
namespace {

constexpr std::uint32_t amd = 0x1002, nvidia = 0x10de, intel = 0x8086;

TEST(HostSubgroups, HaveTheReportedSizeOnMostDevices) {
    const Subgroups made = choose_subgroups({amd, 64, 32, 64, true, true});
    EXPECT_EQ(made.size, 64u);
    EXPECT_TRUE(made.known && made.required);
    EXPECT_EQ(made.registers, 256u);
}

TEST(HostSubgroups, HaveTheLeastSizeOnIntelsGpus) {
    const Subgroups alchemist = choose_subgroups({intel, 32, 8, 32, true, true});
    EXPECT_EQ(alchemist.size, 8u);
    EXPECT_EQ(alchemist.registers, 128u);
    const Subgroups battlemage = choose_subgroups({intel, 32, 16, 32, true, true});
    EXPECT_EQ(battlemage.size, 16u);
    EXPECT_EQ(battlemage.registers, 128u);
    EXPECT_TRUE(battlemage.known && battlemage.required);
}

TEST(HostSubgroups, AreKnownWithoutRequiringWhereThereIsOneSize) {
    const Subgroups one = choose_subgroups({nvidia, 32, 32, 32, true, false});
    EXPECT_EQ(one.size, 32u);
    EXPECT_TRUE(one.known);
    EXPECT_FALSE(one.required);
    EXPECT_FALSE(choose_subgroups({nvidia, 32, 32, 32, false, false}).known);  // the last of a workgroup may lack lanes
}

TEST(HostSubgroups, AreUnknownWhereTheDriverPicksThem) {
    const Subgroups made = choose_subgroups({intel, 32, 8, 32, true, false});
    EXPECT_EQ(made.size, 32u);
    EXPECT_FALSE(made.known || made.required);
    EXPECT_EQ(made.registers, 32u);
}

}  // namespace
}  // namespace vkf
