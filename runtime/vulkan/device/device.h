// Vulkan devices: their list, with reasons why one is refused, and the open device, which is passed by reference.
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

/// Number of workgroups that keep a device busy, and the source of that number.
struct ComputeUnits {
    std::uint32_t count = 1;
    std::string source;
};

/// A feature or a limit that a device lacks, and the cost of its absence.
struct MissingFeature {
    std::string name, cost;
};

/// Faults of a driver's cooperative matrices, by the part of a trial that found them: "list", when the driver was asked
/// for them; "fp16", "bf16", "workgroup": products of these elements, or by a workgroup. They are then not used.
using MatrixFaults = std::map<std::string, std::string>;

/// Properties and abilities of a physical device, and the reason if it cannot be used.
struct DeviceInfo {
    std::uint32_t index = 0;
    std::string name;
    std::string driver;
    std::string api_version;
    std::string identity;  // unique to this type of device and version of its driver
    DeviceKind kind = DeviceKind::other;
    std::string refusal;                  // empty: usable
    std::vector<MissingFeature> missing;  // features that it is usable without
    ComputeUnits compute_units;           // see vulkan/device/compute_units.h
    std::uint32_t subgroup_size = 0;      // used by our kernels: see vulkan/device/subgroups.h
    std::uint32_t registers = 0;          // of 32 bits, per invocation
    std::uint32_t max_group = 0;          // invocations per workgroup
    std::uint32_t shared_bytes = 0;       // shared memory per workgroup
    std::uint32_t push_constant_bytes = 0;
    std::uint64_t memory_bytes = 0;  // size of the heap that kernels use
    std::uint64_t max_buffer_bytes = 0;
    std::uint64_t buffer_bytes = 0;     // largest guaranteed allocation: larger ones may fail
    double timestamp_ns = 0;            // nanoseconds per tick; 0: no timestamps
    bool uniform_loads = false;         // loads vectors by shaders/lib/uniform_loads.glsl
    bool checked_pushes = false;        // bounds-checks push constants by branches
    bool fp16 = false;                  // shaderFloat16
    bool storage16 = false;             // storageBuffer16BitAccess
    bool int64 = false;                 // shaderInt64
    bool cooperative_matrix = false;    // VK_KHR_cooperative_matrix
    bool cooperative_matrix2 = false;   // VK_NV_cooperative_matrix2
    std::vector<MatrixShape> matrices;  // cooperative_matrix: shapes that our kernels can use
    std::vector<GroupMatrices> workgroup_matrices;  // cooperative_matrix2: matrices that they can use
    bool flexible_matrices = false;  // cooperative_matrix2 of subgroups, without its loads: see attention_tiling.h
    MatrixFaults matrix_faults;
};

/// Called before a driver with VK_KHR_cooperative_matrix is asked for its matrices, which ends the process with some
/// drivers. With a fault "list" the driver is not asked; matrices of other faults are not used. The info has everything
/// but matrices.
using MatrixTrial = std::function<MatrixFaults(const DeviceInfo&)>;

/// All Vulkan devices of this machine, usable ones first, in order of preference (discrete, integrated, virtual, CPU).
/// `index` is a device's position in this list. Without a trial, drivers are asked for their matrices at once. Throws
/// Error without a Vulkan loader or driver.
std::vector<DeviceInfo> list_devices(const MatrixTrial& trial = {});

/// Thrown if a submission does not end. The device is then unusable for the rest of the process, and its objects are
/// not freed. A program should report the error and end at once, without running exit handlers.
class DeviceHang : public Error {
public:
    using Error::Error;
};

/// An open device with one compute queue. Throws Error if no device is usable, with the reason for each refused one;
/// InputError if `wanted` (an index, or part of a name) matches none.
///
/// On x86 processors with AVX-512 the constructor sets LP_NATIVE_VECTOR_WIDTH=512, unless the user has set it: Mesa's
/// CPU device then uses subgroups of 16 instead of 8. Each worker of that device gets a processor of its own
/// (vulkan/cpu/workers.h). If all processors of the machine have a worker, none of them sleeps while something is
/// submitted, if the system permits it (vulkan/cpu/cpu_latency.h).
///
/// `pretend` is for tests: it changes the device's info, to lower limits or to another kind. Of all devices, only the
/// opened one is asked for its matrices: after the trial, if there is one.
class Device {
public:
    explicit Device(const std::string& wanted = {}, const std::function<void(DeviceInfo&)>& pretend = {},
                    const MatrixTrial& trial = {});
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device();

    const DeviceInfo& info() const { return info_; }
    DeviceHandles& handles() const { return *handles_; }
    /// Attaches an object of another module that lives as long as the device, one per type. attached() returns it, or
    /// null if there is none.
    template <class Service>
    void attach(std::shared_ptr<Service> service) {
        services_[typeid(Service)] = std::move(service);
    }
    template <class Service>
    Service* attached() const {
        const auto found = services_.find(typeid(Service));
        return found == services_.end() ? nullptr : static_cast<Service*>(found->second.get());
    }

    /// Bytes of all buffers on the device.
    std::uint64_t allocated_bytes() const;
    /// Bytes that buffers can still take: the driver's budget left to this process and, on a CPU device, at most the
    /// memory that base/os/memory.h counts as free, less some for compiling kernels.
    std::uint64_t free_bytes() const;
    /// Waits until all submissions have finished. Throws Error if the device was lost, DeviceHang as wait() does.
    void wait_idle() const;
    /// Time that a submission may take before the device counts as hanging. Default: a minute; an hour on a CPU, which
    /// is never reset and may be slow.
    std::chrono::duration<double> patience() const;
    void set_patience(std::chrono::duration<double> longest);
    /// Number of messages of the validation layers so far; always 0 without the layers. They are on if the environment
    /// variable VKFORMER_VALIDATION is set to anything but 0, or by default in a build with VKFORMER_VALIDATION.
    std::uint64_t validation_messages() const;

private:
    DeviceInfo info_;
    std::unique_ptr<DeviceHandles> handles_;
    std::map<std::type_index, std::shared_ptr<void>> services_;
};

}  // namespace vkf
