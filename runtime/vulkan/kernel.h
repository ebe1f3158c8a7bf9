// A kernel with its constants fixed, and what its arguments are called.
#pragma once

#include <cstdint>
#include <functional>
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
    void* handle = nullptr;  // VkShaderEXT where the device has shader objects, else VkPipeline
    double compile_ms = 0;
};

/// An embedded kernel with values for its constants; SUBGROUP and CPU are filled in where it has them.
struct KernelRequest {
    std::string name;
    KernelConstants constants;
    bool cpu = false;  // made for a CPU device
};

/// What an embedded module says of itself, without a pipeline. Throws Error if there is no kernel of that name.
Kernel describe_kernel(const std::string& name);

/// Makes what the device lacks of these, on several processors at once: a driver takes milliseconds for
/// one that it has cached, up to seconds for one that it has not. Throws Error if there is no such kernel or constant,
/// listing those there are; for the first of them, if there are several.
void make_kernels(Device& device, std::span<const KernelRequest> requests);
/// Makes those of them that can be made, ahead of whoever will ask for them and be told why one cannot. `go_on` is
/// asked after each, with how many are done and of how many; at its first no the others are left.
void make_kernels_ahead(Device& device, std::span<const KernelRequest> requests,
                        const std::function<bool(std::size_t done, std::size_t all)>& go_on);
/// One of them, made if it is not there; kept by the device.
const Kernel& kernel(Device& device, const KernelRequest& request);
/// Whether there are kernels that multiply cooperative matrices of this element, held by a subgroup or by a workgroup:
/// those that need a newer glslc than the build had are left out.
bool has_matrix_kernels(MatrixElement element);
bool has_workgroup_matrix_kernels(MatrixElement element);
/// A number that changes when any of these kernels does, or is there or not.
std::uint64_t kernels_hash(std::span<const std::string> names);

/// Opens what earlier runs left of compiled kernels for this driver: a pipeline cache, or binaries of shader objects. A
/// damaged or foreign one counts as none.
void open_kernel_cache(Device& device);
/// Writes the device's pipeline cache to disk, if it has grown, or removes the oldest binaries, if there are too many;
/// a failure is no error. Called when the device closes.
void save_kernel_cache(Device& device);

}  // namespace vkf
