// A driver's statistics of a compiled kernel: VK_KHR_pipeline_executable_properties.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "vulkan/kernel/kernel.h"

namespace vkf {

/// Statistics of a kernel, under the driver's own names.
struct DriverStatistics {
    double compile_ms = 0;
    std::vector<std::pair<std::string, double>> numbers;
    std::vector<std::pair<std::string, std::string>> texts;  // forms of the kernel's code, machine instructions last
};

/// True if the driver reports statistics. Mesa's CPU device does not, and compiles only at a kernel's first launch.
bool has_driver_statistics(const Device& device);

/// Compiles an embedded kernel anew, without our pipeline cache, and discards the result. Throws Error if the kernel or
/// a constant does not exist, or if the driver cannot compile the kernel or reports no statistics.
DriverStatistics driver_statistics(const Device& device, const KernelRequest& kernel);

}  // namespace vkf
