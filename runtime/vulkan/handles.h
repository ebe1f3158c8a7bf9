// The Vulkan side of a device, seen only by this folder.
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

#include "vulkan/cpu_latency.h"
#include "vulkan/device.h"
#include "vulkan/instance.h"
#include "vulkan/kernel.h"

namespace vkf {

/// Throws Error naming the call unless it succeeded; says so plainly when the device was lost or memory ran out.
void check(VkResult result, const char* call);

/// Two digits for each byte.
std::string hexadecimal(std::span<const std::uint8_t> bytes);

struct DeviceHandles {
    std::atomic<std::uint64_t> validation_messages = 0;  // outlives the instance that counts into it
    std::unique_ptr<Instance> instance;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    std::uint32_t queue_family = 0;
    VmaAllocator allocator = VK_NULL_HANDLE;
    VkCommandPool commands = VK_NULL_HANDLE;
    VkSemaphore timeline = VK_NULL_HANDLE;
    std::uint64_t submitted = 0;  // last value the timeline will reach
    std::chrono::nanoseconds patience{};
    bool hung = false;              // a submission never ended: nothing that it may use is waited for or freed any more
    CpuLatencyRequest cpu_latency;  // held from a submission until the last one has been waited for
    VkPipelineCache cache = VK_NULL_HANDLE;
    std::string cache_path;                    // of the pipeline cache, or of binaries; empty: nowhere to keep them
    std::size_t cache_bytes = 0;               // as found on disk
    VkPipelineLayout layout = VK_NULL_HANDLE;  // one for all kernels: push constants and nothing else
    std::map<std::string, std::unique_ptr<Kernel>> kernels;
    Subgroups subgroups;
    bool names = false;                  // debug names are available
    bool memory_budget = false;          // VK_EXT_memory_budget
    bool host_memory = false;            // VK_EXT_external_memory_host
    bool executable_properties = false;  // VK_KHR_pipeline_executable_properties
    bool shader_objects = false;         // VK_EXT_shader_object, in place of pipelines

    void name(VkObjectType type, std::uint64_t handle, const std::string& text) const;
};

/// What every kernel may take as push constants.
inline constexpr VkPushConstantRange kernel_arguments{VK_SHADER_STAGE_COMPUTE_BIT, 0, 128};

/// How many threads make kernels at once, at most: as many as there are processors, for a CPU device eight.
unsigned compiling_threads(bool cpu);
/// Name and constants: what tells a device's kernels apart.
std::string key_of(const KernelRequest& request);
/// The SPIR-V that is embedded under that name. Throws Error if there is none.
std::span<const std::uint32_t> kernel_code(const std::string& name);
/// A pipeline of the kernel, which is the caller's. Throws Error if it has no such constant.
VkPipeline make_pipeline(const Device& device, const Kernel& kernel, const KernelRequest& request,
                         VkPipelineCache cache, VkPipelineCreateFlags flags = 0);

}  // namespace vkf
