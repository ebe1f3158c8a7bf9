// Features of a device that our kernels and the folder runtime/vulkan require, those that they use if present, and the
// cost of their absence; for this folder and its tests.
#pragma once

#include <string>
#include <vector>

#include "vulkan/device/device.h"
#include "vulkan/device/physical_device.h"

namespace vkf {

/// Required features that the device lacks, each with its use: without them it is refused. Only features that every
/// build uses are required: a test compares them with the capabilities that the kernels declare.
std::vector<MissingFeature> missing_required(const PhysicalDevice& device);

/// Optional features and limits that the device lacks, each with the cost of its absence. The list is short for a CPU,
/// whose kernels use neither shared memory nor matrices.
std::vector<MissingFeature> missing_optional(const PhysicalDevice& device);

/// Reason why a device cannot be used, in one line; empty if it can.
std::string refusal(const PhysicalDevice& device);

/// Listed extensions to enable. Without VK_KHR_portability_subset a device that does not fully conform to Vulkan, such
/// as Apple's GPUs under MoltenVK, may not be opened. `info` names the matrices that kernels use.
std::vector<const char*> wanted_extensions(const std::set<std::string>& listed, const DeviceInfo& info);

}  // namespace vkf
