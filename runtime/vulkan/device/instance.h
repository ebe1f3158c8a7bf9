// The Vulkan instance and the judgement of its devices; for the folder runtime/vulkan only.
#pragma once

#include <volk.h>

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "vulkan/device/device.h"
#include "vulkan/device/device_facts.h"
#include "vulkan/device/subgroups.h"

namespace vkf {

/// A Vulkan 1.3 instance, with validation layers if wanted. It cannot be moved: it is owned by unique_ptr.
struct Instance {
    /// Counts validation messages in `messages`, if given. Throws Error if there is no loader of Vulkan 1.3, too little
    /// memory for the drivers, or no validation layer although validation is wanted.
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
    std::set<std::string> listed;  // extensions
    std::string no_matrices;       // reason against all its matrices; empty: there is none
    // Set by complete():
    std::vector<ListedMatrix> matrices;
    std::vector<const char*> extensions;  // to be enabled

    bool enables(std::string_view extension) const;
};

/// All devices with their judgement, in order of preference; their matrices are unknown. Throws Error if drivers find
/// no device.
std::vector<Candidate> candidates(VkInstance instance);

/// Finds a device's matrices, and with them the extensions to be enabled. Refused devices are not asked.
void complete(Candidate& candidate, const MatrixTrial& trial);

/// True if validation is wanted, by environment or build.
bool validation_wanted();

}  // namespace vkf
