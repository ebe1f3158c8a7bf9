// Number of a device's compute units: cores, or a GPU's multiprocessors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vulkan/device/device.h"

namespace vkf {

/// Known facts about a device's compute units. 0 means unknown.
struct ComputeUnitReport {
    DeviceKind kind = DeviceKind::other;
    std::uint32_t processors = 0;                                           // of this machine
    std::uint32_t multiprocessors = 0;                                      // VK_NV_shader_sm_builtins
    std::uint32_t active = 0;                                               // VK_AMD_shader_core_properties2
    std::uint32_t engines = 0, arrays_per_engine = 0, units_per_array = 0;  // VK_AMD_shader_core_properties
    std::uint32_t cores = 0;                                                // VK_ARM_shader_core_builtins
    std::optional<std::string> wanted = {};  // the environment variable VKFORMER_COMPUTE_UNITS, for tests
};

/// Returns the wanted number, else the device's own, else the usual one of its kind. Nothing is measured: the number
/// decides how sums are cut, and a device must add in the same order in every run. Throws InputError unless the wanted
/// number is an integer from 1 to 65536.
ComputeUnits choose_compute_units(const ComputeUnitReport& report);

}  // namespace vkf
