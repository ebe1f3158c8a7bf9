// The Vulkan device: found, judged with reasons, opened once and passed by reference.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/matrix_shape.h"

namespace vkf {

struct DeviceHandles;  // vulkan/handles.h, for this folder only

enum class DeviceKind : std::uint8_t { discrete, integrated, virtual_gpu, cpu, other };

std::string_view to_string(DeviceKind);

/// How many workgroups keep a device busy at once, and who says so.
struct ComputeUnits {
    std::uint32_t count = 1;
    std::string source;
};

/// A feature or a limit that a device lacks, and what that costs.
struct MissingFeature {
    std::string name, cost;
};

/// What one physical device is and can do, and why it cannot be used if it cannot.
struct DeviceInfo {
    std::uint32_t index = 0;
    std::string name;
    std::string driver;
    std::string api_version;
    std::string identity;  // tells this type of device with this version of its driver from all others
    DeviceKind kind = DeviceKind::other;
    std::string refusal;                  // empty: usable
    std::vector<MissingFeature> missing;  // it is usable without
    ComputeUnits compute_units;           // see vulkan/compute_units.h
    std::uint32_t subgroup_size = 0;      // of our kernels: see vulkan/subgroups.h
    std::uint32_t registers = 0;          // of 32 bits, for one invocation
    std::uint32_t max_group = 0;          // invocations per workgroup
    std::uint32_t shared_bytes = 0;       // memory shared by a workgroup
    std::uint32_t push_constant_bytes = 0;
    std::uint64_t memory_bytes = 0;  // of the heap that kernels work in
    std::uint64_t max_buffer_bytes = 0;
    std::uint64_t buffer_bytes = 0;     // the largest that an allocation is promised for: larger ones may fail
    double timestamp_ns = 0;            // nanoseconds per tick; 0: no timestamps
    bool uniform_loads = false;         // it loads vectors by shaders/lib/uniform_loads.glsl
    bool checked_pushes = false;        // and bounds-checks push constants by branches
    bool fp16 = false;                  // shaderFloat16
    bool storage16 = false;             // storageBuffer16BitAccess
    bool int64 = false;                 // shaderInt64
    bool cooperative_matrix = false;    // VK_KHR_cooperative_matrix
    bool cooperative_matrix2 = false;   // VK_NV_cooperative_matrix2
    std::vector<MatrixShape> matrices;  // what the kernels can use of the former
    std::vector<GroupMatrices> workgroup_matrices;  // what they can use of the latter
    bool flexible_matrices = false;  // its subgroups hold as much of the latter, but for loads: see attention_tiling.h
};

/// Every Vulkan device of this machine, usable ones first in order of preference (discrete, integrated, virtual, CPU).
/// `index` is a device's place in this list. Empty if there is no Vulkan loader or driver.
std::vector<DeviceInfo> list_devices();

/// A submission did not end. Its device can do nothing more in this process: what lives on it is not freed, and a
/// program that has said so should end at once, without what runs at exit.
class DeviceHang : public Error {
public:
    using Error::Error;
};

/// An open device with one compute queue. Throws Error if none is usable, with the reason for each that was refused;
/// InputError if `wanted` (an index, or part of a name) matches none.
///
/// On x86 processors with AVX-512 it sets LP_NATIVE_VECTOR_WIDTH=512, unless the user has set it: Mesa's CPU device
/// then works in subgroups of 16 instead of 8. That device's workers get a processor each (vulkan/workers.h); if these
/// are all there are, none sleeps while something is submitted, where the system permits it (vulkan/cpu_latency.h).
///
/// `pretend` is for tests: it changes what is said of the device, to lower limits or to another kind.
class Device {
public:
    explicit Device(const std::string& wanted = {}, const std::function<void(DeviceInfo&)>& pretend = {});
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device();

    const DeviceInfo& info() const { return info_; }
    DeviceHandles& handles() const { return *handles_; }
    /// Something of another module's that lives as long as the device, one of each type; none at first.
    template <class Service>
    void attach(std::shared_ptr<Service> service) {
        services_[typeid(Service)] = std::move(service);
    }
    template <class Service>
    Service* attached() const {
        const auto found = services_.find(typeid(Service));
        return found == services_.end() ? nullptr : static_cast<Service*>(found->second.get());
    }

    /// Bytes of all buffers that live on it.
    std::uint64_t allocated_bytes() const;
    /// Bytes that buffers can still be made of: what the driver says is left to this process and, where kernels run on
    /// the processor, what base/memory.h says.
    std::uint64_t free_bytes() const;
    /// Waits until everything submitted has finished. Throws Error if the device was lost, DeviceHang as wait() does.
    void wait_idle() const;
    /// How long a submission may take before the device counts as hanging: a minute at first; on a CPU, which nobody
    /// resets and which may be slow, an hour.
    std::chrono::duration<double> patience() const;
    void set_patience(std::chrono::duration<double> longest);
    /// Messages of the validation layers so far; always 0 without them. They are on when the environment variable
    /// VKFORMER_VALIDATION is set to anything but 0, or in a build with VKFORMER_VALIDATION.
    std::uint64_t validation_messages() const;

private:
    DeviceInfo info_;
    std::unique_ptr<DeviceHandles> handles_;
    std::map<std::type_index, std::shared_ptr<void>> services_;
};

}  // namespace vkf
