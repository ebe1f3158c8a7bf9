// Kernels with fixed constants, and the names of their arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/matrix_shape.h"
#include "vulkan/kernel/reflect.h"

namespace vkf {

class Device;

/// Names of specialisation constants, and the 32 bits of each value.
using KernelConstants = std::vector<std::pair<std::string, std::uint32_t>>;

struct Kernel {
    std::string name;
    Reflection reflection;
    void* handle = nullptr;  // VkShaderEXT if the device uses shader objects, else VkPipeline
    double compile_ms = 0;
};

/// An embedded kernel with values for its constants. The constants SUBGROUP and CPU, if it has them, are set from the
/// device and from `cpu`.
struct KernelRequest {
    std::string name;
    KernelConstants constants;
    bool cpu = false;  // made for a CPU device
};

/// Name and reflection of an embedded kernel, without a pipeline. Throws Error if there is no kernel of that name.
Kernel describe_kernel(const std::string& name);

/// Makes the requested kernels that the device does not have yet, on several processors at once: a driver takes
/// milliseconds for a cached kernel, up to seconds for others. Throws Error for the first request whose kernel or
/// constant does not exist; for a constant, the message lists the existing ones.
void make_kernels(Device& device, std::span<const KernelRequest> requests);
/// Makes the requested kernels before they are used, and skips those that cannot be made: make_kernels will throw the
/// reason. Calls `go_on` after each with the number done and the number of all; once it returns false, no more are
/// begun.
void make_kernels_ahead(Device& device, std::span<const KernelRequest> requests,
                        const std::function<bool(std::size_t done, std::size_t all)>& go_on);
/// The requested kernel, made if the device does not have it yet; owned by the device.
const Kernel& kernel(Device& device, const KernelRequest& request);
/// True if the build has kernels that multiply cooperative matrices of this element, held by a subgroup or by a
/// workgroup: kernels that need a newer glslc than the build had are left out.
bool has_matrix_kernels(MatrixElement element);
bool has_workgroup_matrix_kernels(MatrixElement element);
/// Hash that changes when the code of any of these kernels changes, or when one is added or missing.
std::uint64_t kernels_hash(std::span<const std::string> names);

/// Opens the compiled kernels that earlier runs saved for this driver: a pipeline cache, or binaries of shader objects.
/// A damaged cache, or one from another driver, counts as none.
void open_kernel_cache(Device& device);
/// Writes the device's pipeline cache to disk if it has grown, or removes the oldest binaries if they take too much
/// space. Ignores failures. Called when the device closes.
void save_kernel_cache(Device& device);

}  // namespace vkf
