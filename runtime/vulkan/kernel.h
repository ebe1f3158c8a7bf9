// A compute pipeline with its constants fixed, and what its arguments are called.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/matrix_shape.h"
#include "vulkan/reflect.h"

namespace vkf {

class Device;

/// The 32 bits of a specialisation constant's value.
using KernelConstants = std::vector<std::pair<std::string, std::uint32_t>>;

struct Kernel {
    std::string name;
    Reflection reflection;
    void* pipeline = nullptr;  // VkPipeline
    double compile_ms = 0;
};

/// The pipeline for an embedded kernel and constants, made at first use and kept by the device. SUBGROUP is filled in.
/// Throws Error if there is no such kernel or constant, listing those there are.
const Kernel& kernel(Device& device, const std::string& name, const KernelConstants& constants);
/// Whether there are kernels that multiply cooperative matrices of this element, held by a subgroup or by a workgroup:
/// those that need a newer glslc than the build had are left out.
bool has_matrix_kernels(MatrixElement element);
bool has_workgroup_matrix_kernels(MatrixElement element);
/// A number that changes when any of these kernels does, or is there or not.
std::uint64_t kernels_hash(std::span<const std::string> names);

/// Opens the pipeline cache that earlier runs left for this driver; a damaged or foreign one counts as none.
void open_pipeline_cache(Device& device);
/// Writes the device's pipeline cache to disk, if it has grown; a failure to write is no error. Called when the device
/// closes.
void save_pipeline_cache(Device& device);

}  // namespace vkf
