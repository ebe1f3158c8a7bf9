// The Vulkan instance and the judgement of its devices; for this folder only.
#pragma once

#include <volk.h>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "vulkan/device.h"
#include "vulkan/device_facts.h"
#include "vulkan/subgroups.h"

namespace vkf {

/// A Vulkan 1.3 instance, with validation where it was asked for. Move-only by not being moved: owned by unique_ptr.
struct Instance {
    /// Counts validation messages into `messages`, if given. Throws Error without a loader, or if validation was asked
    /// for and its layer is missing.
    explicit Instance(std::atomic<std::uint64_t>* messages = nullptr);
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;
    ~Instance();

    VkInstance handle = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
};

struct Candidate {
    DeviceInfo info;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    std::uint32_t queue_family = 0;
    Subgroups subgroups;
    std::vector<ListedMatrix> matrices;
    std::vector<const char*> extensions;  // to be enabled

    bool enables(std::string_view extension) const;
};

/// Every device with its judgement, in order of preference.
std::vector<Candidate> candidates(VkInstance instance);

/// Whether validation was asked for, by environment or build.
bool validation_wanted();

}  // namespace vkf
