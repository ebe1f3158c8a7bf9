// Properties and features of a physical device; for the folder runtime/vulkan and its tests.
#pragma once

#include <volk.h>

#include <cstdint>
#include <set>
#include <string>

namespace vkf {

/// Properties as the driver reports them. The default is a device without any feature, for tests.
struct PhysicalDevice {
    PhysicalDevice() = default;
    /// Queries the device. Throws Error if a query fails.
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
    bool computes = false;           // queue_family exists and computes
    std::uint32_t queue_family = 0;  // vulkan/device/queue_family.h
    std::uint32_t timestamp_bits = 0;
    std::uint64_t memory_bytes = 0;  // size of the largest device-local heap
    bool sleeps = false;             // a CPU whose processors may not be kept awake (vulkan/cpu/cpu_latency.h)
};

}  // namespace vkf
