// What a physical device says of itself; for this folder and its tests.
#pragma once

#include <volk.h>

#include <cstdint>
#include <set>
#include <string>

namespace vkf {

/// Before anything of it is chosen. Without arguments a device that has nothing, for tests.
struct PhysicalDevice {
    PhysicalDevice() = default;
    /// Asks the device. Throws Error if it cannot.
    explicit PhysicalDevice(VkPhysicalDevice handle);

    VkPhysicalDeviceProperties properties{};
    VkPhysicalDeviceVulkan11Properties properties11{};
    VkPhysicalDeviceVulkan12Properties properties12{};
    VkPhysicalDeviceVulkan13Properties properties13{};
    VkPhysicalDeviceFeatures features{};
    VkPhysicalDeviceVulkan11Features features11{};
    VkPhysicalDeviceVulkan12Features features12{};
    VkPhysicalDeviceVulkan13Features features13{};
    std::set<std::string> extensions;
    bool computes = false;           // with the queues of the family that follows
    std::uint32_t queue_family = 0;  // vulkan/queue_family.h
    std::uint32_t timestamp_bits = 0;
    std::uint64_t memory_bytes = 0;  // of the largest heap that is the device's own
    bool sleeps = false;             // a CPU, whose processors may not be kept awake (vulkan/cpu_latency.h)
};

}  // namespace vkf
