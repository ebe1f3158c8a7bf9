// How many workgroups a device runs at once: cores, or a GPU's multiprocessors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vulkan/device.h"

namespace vkf {

/// What is known of a device's. Zeros count as not known.
struct ComputeUnitReport {
    DeviceKind kind = DeviceKind::other;
    std::uint32_t processors = 0;                                           // of this machine
    std::uint32_t multiprocessors = 0;                                      // VK_NV_shader_sm_builtins
    std::uint32_t active = 0;                                               // VK_AMD_shader_core_properties2
    std::uint32_t engines = 0, arrays_per_engine = 0, units_per_array = 0;  // VK_AMD_shader_core_properties
    std::uint32_t cores = 0;                                                // VK_ARM_shader_core_builtins
    std::optional<std::string> wanted = {};  // the environment variable VKFORMER_COMPUTE_UNITS, for tests
};

/// What is wanted, else what the device says, else the usual number for its kind: nothing is measured, for it decides
/// how sums are cut, and the same device must add up alike in every run. Throws InputError unless what is wanted is a
/// whole number from 1 to 65536.
ComputeUnits choose_compute_units(const ComputeUnitReport& report);

}  // namespace vkf
