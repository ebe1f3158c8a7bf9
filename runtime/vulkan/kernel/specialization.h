// Values for a kernel's constants, in the form that Vulkan takes; for the folder runtime/vulkan.
#pragma once

#include <volk.h>

#include <cstdint>
#include <span>
#include <vector>

#include "vulkan/device/device.h"
#include "vulkan/kernel/kernel.h"

namespace vkf {

/// Values of specialisation constants. Entry i has id i, because the validation layers of Debian 13 (1.4.309) look
/// there for a cooperative matrix's extents; an entry without a value gets an id that no kernel has.
struct Specialization {
    std::vector<VkSpecializationMapEntry> entries;
    std::vector<std::uint32_t> data;

    void set(std::uint32_t id, std::uint32_t value);
    /// Points into this object, which must outlive the result.
    VkSpecializationInfo info() const;
};

/// Constants of the request, and those that the device decides. Throws Error if the kernel lacks a requested constant,
/// or if a workgroup exceeds the device's invocations or shared memory: a driver need not report that.
Specialization specialize(const DeviceInfo& device, const Kernel& kernel, const KernelRequest& request,
                          std::span<const std::uint32_t> code);

}  // namespace vkf
