// Values for a kernel's constants, in the form Vulkan takes them; for this folder.
#pragma once

#include <volk.h>

#include <cstdint>
#include <span>
#include <vector>

#include "vulkan/device.h"
#include "vulkan/kernel.h"

namespace vkf {

/// Entry i has id i, for the validation layers of Debian 13 (1.4.309) look there for a cooperative matrix's extents; an
/// id without a value gets one that no kernel has.
struct Specialization {
    std::vector<VkSpecializationMapEntry> entries;
    std::vector<std::uint32_t> data;

    void set(std::uint32_t id, std::uint32_t value);
    /// Points into this object.
    VkSpecializationInfo info() const;
};

/// The request's, and those that the device decides. Throws Error if the kernel has no such constant, or if a workgroup
/// would be larger, or would share more, than the device can: a driver need not notice.
Specialization specialize(const DeviceInfo& device, const Kernel& kernel, const KernelRequest& request,
                          std::span<const std::uint32_t> code);

}  // namespace vkf
