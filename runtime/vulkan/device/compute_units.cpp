#include "vulkan/device/compute_units.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace vkf {

namespace {

std::uint32_t whole_number(const std::string& digits) {
    constexpr std::uint32_t most = 65536;
    std::uint32_t count = 0;
    const char* end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, count);
    require(error == std::errc() && stopped == end && count >= 1 && count <= most, "VKFORMER_COMPUTE_UNITS is '",
            digits, "', wanted a whole number from 1 to ", most);
    return count;
}

/// Assumed number for GPUs that do not report it: Intel's, whose units are Xe cores, and mobile ones.
std::uint32_t usual(DeviceKind kind) {
    switch (kind) {
        case DeviceKind::discrete:
            return 32;
        case DeviceKind::virtual_gpu:
            return 16;
        default:
            return 8;
    }
}

}  // namespace

ComputeUnits choose_compute_units(const ComputeUnitReport& report) {
    if (report.wanted) return {whole_number(*report.wanted), "VKFORMER_COMPUTE_UNITS"};
    if (report.kind == DeviceKind::cpu) return {std::max(1u, report.processors), "processors of this machine"};
    if (report.multiprocessors > 0) return {report.multiprocessors, "VK_NV_shader_sm_builtins"};
    if (report.active > 0) return {report.active, "VK_AMD_shader_core_properties2"};
    if (const std::uint32_t all = report.engines * report.arrays_per_engine * report.units_per_array; all > 0)
        return {all, "VK_AMD_shader_core_properties"};
    if (report.cores > 0) return {report.cores, "VK_ARM_shader_core_builtins"};
    return {usual(report.kind), text("not known: assumed of ", to_string(report.kind), "s")};
}

}  // namespace vkf
