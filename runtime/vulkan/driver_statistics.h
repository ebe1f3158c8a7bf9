// What a driver says of a kernel that it has compiled: VK_KHR_pipeline_executable_properties.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "vulkan/kernel.h"

namespace vkf {

/// Under the driver's own names.
struct DriverStatistics {
    double compile_ms = 0;
    std::vector<std::pair<std::string, double>> numbers;
    std::vector<std::pair<std::string, std::string>> texts;  // forms of the kernel, the machine's instructions last
};

/// Whether the device's driver says anything. Mesa's CPU device does not, and compiles at a kernel's first launch only.
bool has_driver_statistics(const Device& device);

/// Compiles an embedded kernel anew, without our pipeline cache, and keeps nothing of it. Throws Error if there is no
/// such kernel or constant, the driver does not compile it, or says nothing of it.
DriverStatistics driver_statistics(const Device& device, const KernelRequest& kernel);

}  // namespace vkf
