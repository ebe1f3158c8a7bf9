// Vulkan handles of a device; for this folder only.
#pragma once

#include <volk.h>

#include <vk_mem_alloc.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "vulkan/cpu/cpu_latency.h"
#include "vulkan/device/device.h"
#include "vulkan/device/instance.h"
#include "vulkan/kernel/kernel.h"

namespace vkf {

/// Throws Error naming the call unless it succeeded; the message says if the device was lost or memory ran out.
void check(VkResult result, const char* call);

struct DeviceHandles;
/// check() of a call on a device that may be lost, with the words of its driver (vulkan/device/device_fault.h).
void check(const DeviceHandles& handles, VkResult result, const char* call);

/// Hexadecimal digits, two per byte.
std::string hexadecimal(std::span<const std::uint8_t> bytes);

struct DeviceHandles {
    std::atomic<std::uint64_t> validation_messages = 0;  // outlives the instance, which counts into it
    std::unique_ptr<Instance> instance;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    std::uint32_t queue_family = 0;
    VmaAllocator allocator = VK_NULL_HANDLE;
    VkCommandPool commands = VK_NULL_HANDLE;
    VkSemaphore timeline = VK_NULL_HANDLE;
    std::uint64_t submitted = 0;  // last value that the timeline will reach
    std::chrono::nanoseconds patience{};
    bool hung = false;              // a submission did not end: what it may use is no longer waited for or freed
    CpuLatencyRequest cpu_latency;  // held from a submission until the last one has been waited for
    VkPipelineCache cache = VK_NULL_HANDLE;
    std::string cache_path;                    // pipeline cache, or folder of binaries; empty: not kept
    std::size_t cache_bytes = 0;               // size of the file when the cache was opened
    VkPipelineLayout layout = VK_NULL_HANDLE;  // shared by all kernels: push constants only
    std::map<std::string, std::unique_ptr<Kernel>> kernels;
    Subgroups subgroups;
    bool names = false;                  // debug names are available
    bool memory_budget = false;          // VK_EXT_memory_budget
    bool host_memory = false;            // VK_EXT_external_memory_host
    bool executable_properties = false;  // VK_KHR_pipeline_executable_properties
    bool shader_objects = false;         // VK_EXT_shader_object is used instead of pipelines
    bool device_fault = false;           // VK_EXT_device_fault

    void name(VkObjectType type, std::uint64_t handle, const std::string& text) const;
};

/// Push-constant range of all kernels.
inline constexpr VkPushConstantRange kernel_arguments{VK_SHADER_STAGE_COMPUTE_BIT, 0, 128};

/// Maximum number of threads that make kernels at once: one per processor, at most 64, for a CPU device at most 8.
unsigned compiling_threads(bool cpu);
/// Unique key of a kernel within a device: its name and constants, and the CPU flag.
std::string key_of(const KernelRequest& request);
/// Embedded SPIR-V of that name. Throws Error if there is none.
std::span<const std::uint32_t> kernel_code(const std::string& name);
/// Makes a pipeline of the kernel, owned by the caller. Throws Error if the kernel lacks a requested constant.
VkPipeline make_pipeline(const Device& device, const Kernel& kernel, const KernelRequest& request,
                         VkPipelineCache cache, VkPipelineCreateFlags flags = 0);

}  // namespace vkf
