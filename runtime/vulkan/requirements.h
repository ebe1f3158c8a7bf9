// What our kernels and this folder must find in a device, what else they would use, and what is lost where it is
// missing; for this folder and its tests.
#pragma once

#include <string>
#include <vector>

#include "vulkan/device.h"
#include "vulkan/physical_device.h"

namespace vkf {

/// Features without which a device is refused, each with what it is for. Only what every build of the program uses is
/// among them: a test compares them with the capabilities that the kernels declare.
std::vector<MissingFeature> missing_required(const PhysicalDevice& device);

/// Features and limits that are used where they are there, each with what is lost without. A CPU, whose kernels use
/// neither shared memory nor matrices, lacks little.
std::vector<MissingFeature> missing_optional(const PhysicalDevice& device);

/// Why a device cannot be used, in one line; empty: it can.
std::string refusal(const PhysicalDevice& device);

/// Whether it is a CPU device whose driver makes vectors of loads as shaders/lib/uniform_loads.glsl has them: lavapipe
/// since Mesa 25; seen with 25.0 and 26.1, not looked for before.
bool loads_vectors(const PhysicalDevice& device);

/// Whether it is one whose driver bounds-checks what is read of push constants by branches, which
/// shaders/matmul_unrolled.comp needs: lavapipe of Mesa 25; seen with 25.0, whose LLVM was 15 or 19, and not with 26.1.
bool checks_pushes(const PhysicalDevice& device);

/// The extensions to enable of those that a device lists: without VK_KHR_portability_subset a device that is not quite
/// Vulkan, such as Apple's GPUs under MoltenVK, may not be opened. `info` says which matrices kernels use of it.
std::vector<const char*> wanted_extensions(const std::set<std::string>& listed, const DeviceInfo& info);

}  // namespace vkf
