#include "vulkan/device/device_facts.h"

#include <span>
#include <string_view>

#include "vulkan/device/instance.h"
#include "vulkan/device/physical_device.h"
#include "vulkan/handles.h"

namespace vkf {

namespace {

struct Flag {
    std::uint32_t bit;
    const char* name;
};

constexpr Flag QUEUE_FLAGS[] = {
    {VK_QUEUE_GRAPHICS_BIT, "graphics"},
    {VK_QUEUE_COMPUTE_BIT, "compute"},
    {VK_QUEUE_TRANSFER_BIT, "transfer"},
    {VK_QUEUE_SPARSE_BINDING_BIT, "sparse binding"},
    {VK_QUEUE_PROTECTED_BIT, "protected"},
    {0x20, "video decode"},
    {0x40, "video encode"},
    {0x100, "optical flow"},
};
constexpr Flag HEAP_FLAGS[] = {
    {VK_MEMORY_HEAP_DEVICE_LOCAL_BIT, "device local"},
    {VK_MEMORY_HEAP_MULTI_INSTANCE_BIT, "multi-instance"},
};
constexpr Flag TYPE_FLAGS[] = {
    {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, "device local"},
    {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, "host visible"},
    {VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, "host coherent"},
    {VK_MEMORY_PROPERTY_HOST_CACHED_BIT, "host cached"},
    {VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT, "lazily allocated"},
    {VK_MEMORY_PROPERTY_PROTECTED_BIT, "protected"},
    {0x40, "device coherent"},
    {0x80, "device uncached"},
    {0x100, "rdma capable"},
};

/// Names of the set bits; a bit without a name is given as a number.
std::vector<std::string> names(std::uint32_t bits, std::span<const Flag> known) {
    std::vector<std::string> made;
    for (const Flag& flag : known)
        if (bits & flag.bit) {
            made.emplace_back(flag.name);
            bits &= ~flag.bit;
        }
    for (std::uint32_t bit = 1; bit != 0; bit <<= 1)
        if (bits & bit) made.push_back(std::to_string(bit));
    return made;
}

std::vector<QueueFamily> queue_families(VkPhysicalDevice physical) {
    std::uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
    std::vector<VkQueueFamilyProperties> list(count);
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, list.data());
    std::vector<QueueFamily> made;
    for (const VkQueueFamilyProperties& at : list)
        made.push_back({names(at.queueFlags, QUEUE_FLAGS), at.queueCount, at.timestampValidBits});
    return made;
}

void add_memory(VkPhysicalDevice physical, DeviceFacts& facts) {
    VkPhysicalDeviceMemoryProperties memory{};
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    for (const VkMemoryHeap& at : std::span(memory.memoryHeaps, memory.memoryHeapCount))
        facts.heaps.push_back({at.size, names(at.flags, HEAP_FLAGS)});
    for (const VkMemoryType& at : std::span(memory.memoryTypes, memory.memoryTypeCount))
        facts.memory_types.push_back({at.heapIndex, names(at.propertyFlags, TYPE_FLAGS)});
}

using Limits = std::vector<std::pair<std::string, std::uint64_t>>;

void add_matrix_limits(VkPhysicalDevice physical, Limits& limits) {
    VkPhysicalDeviceCooperativeMatrix2PropertiesNV matrices{};
    matrices.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_PROPERTIES_NV;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &matrices;
    vkGetPhysicalDeviceProperties2(physical, &properties);
    limits.emplace_back("cooperativeMatrixWorkgroupScopeMaxWorkgroupSize",
                        matrices.cooperativeMatrixWorkgroupScopeMaxWorkgroupSize);
    limits.emplace_back("cooperativeMatrixFlexibleDimensionsMaxDimension",
                        matrices.cooperativeMatrixFlexibleDimensionsMaxDimension);
    limits.emplace_back("cooperativeMatrixWorkgroupScopeReservedSharedMemory",
                        matrices.cooperativeMatrixWorkgroupScopeReservedSharedMemory);
}

Limits limits(const PhysicalDevice& has) {
    const VkPhysicalDeviceLimits& core = has.properties.limits;
    return {{"maxComputeSharedMemorySize", core.maxComputeSharedMemorySize},
            {"maxComputeWorkGroupInvocations", core.maxComputeWorkGroupInvocations},
            {"maxComputeWorkGroupCountX", core.maxComputeWorkGroupCount[0]},
            {"maxPushConstantsSize", core.maxPushConstantsSize},
            {"maxStorageBufferRange", core.maxStorageBufferRange},
            {"maxMemoryAllocationCount", core.maxMemoryAllocationCount},
            {"nonCoherentAtomSize", core.nonCoherentAtomSize},
            {"minMemoryMapAlignment", core.minMemoryMapAlignment},
            {"subgroupSize", has.properties11.subgroupSize},
            {"maxMemoryAllocationSize", has.properties11.maxMemoryAllocationSize},
            {"minSubgroupSize", has.properties13.minSubgroupSize},
            {"maxSubgroupSize", has.properties13.maxSubgroupSize},
            {"maxComputeWorkgroupSubgroups", has.properties13.maxComputeWorkgroupSubgroups},
            {"maxBufferSize", has.properties13.maxBufferSize}};
}

std::vector<std::pair<std::string, std::uint32_t>> extensions(VkPhysicalDevice physical) {
    const char* call = "vkEnumerateDeviceExtensionProperties";
    std::uint32_t count = 0;
    check(vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr), call);
    std::vector<VkExtensionProperties> list(count);
    check(vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, list.data()), call);
    std::vector<std::pair<std::string, std::uint32_t>> made;
    for (const VkExtensionProperties& at : list) made.emplace_back(at.extensionName, at.specVersion);
    return made;
}

}  // namespace

std::vector<DeviceFacts> list_device_facts(const MatrixTrial& trial) {
    std::vector<DeviceFacts> list;
    const Instance instance;
    for (Candidate& candidate : candidates(instance.handle)) {
        complete(candidate, trial);
        const PhysicalDevice has(candidate.physical);
        DeviceFacts made{.vendor_id = has.properties.vendorID,
                         .device_id = has.properties.deviceID,
                         .driver_version = has.properties.driverVersion,
                         .queue_families = queue_families(candidate.physical),
                         .queue_family = candidate.queue_family,
                         .matrices = std::move(candidate.matrices),
                         .limits = limits(has),
                         .versions = extensions(candidate.physical)};
        add_memory(candidate.physical, made);
        if (has.extensions.contains(VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME))
            add_matrix_limits(candidate.physical, made.limits);
        list.push_back(std::move(made));
    }
    return list;
}

}  // namespace vkf
