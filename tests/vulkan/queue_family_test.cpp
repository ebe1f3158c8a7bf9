// Choice of a queue family from a device's list.
#include "vulkan/device/queue_family.h"

#include <gtest/gtest.h>

#include <vector>

namespace vkf::test {
namespace {

VkQueueFamilyProperties family(VkQueueFlags flags, std::uint32_t timestamp_bits = 64) {
    VkQueueFamilyProperties made{};
    made.queueFlags = flags;
    made.queueCount = 1;
    made.timestampValidBits = timestamp_bits;
    return made;
}

constexpr VkQueueFlags all = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
                       copies = VK_QUEUE_TRANSFER_BIT, computes = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
using Families = std::vector<VkQueueFamilyProperties>;

TEST(HostQueueFamily, IsOneThatComputesAndDoesNotDraw) {
    EXPECT_EQ(choose_queue_family(Families{family(all), family(copies), family(computes)}, {}), 2u);
    EXPECT_EQ(choose_queue_family(Families{family(copies), family(all)}, {}), 1u);
    EXPECT_EQ(choose_queue_family(Families{family(copies)}, {}), std::nullopt);
    EXPECT_EQ(choose_queue_family(Families{}, {}), std::nullopt);
}

TEST(HostQueueFamily, HasTimestampsIfAnyHas) {
    EXPECT_EQ(choose_queue_family(Families{family(all), family(computes, 0), family(computes)}, {}), 2u);
    EXPECT_EQ(choose_queue_family(Families{family(all), family(computes, 0)}, {}), 0u);
    EXPECT_EQ(choose_queue_family(Families{family(all, 0), family(computes, 0)}, {}), 1u);
}

TEST(HostQueueFamily, IsTheOneThatIsAskedForIfItComputes) {
    const Families list{family(all), family(copies), family(computes)};
    EXPECT_EQ(choose_queue_family(list, "0"), 0u);
    EXPECT_EQ(choose_queue_family(list, "2"), 2u);
    for (const char* wrong : {"1", "3", "", "x", "2x", "-1", "99999999999"})
        EXPECT_EQ(choose_queue_family(list, wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace vkf::test
