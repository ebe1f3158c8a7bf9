// Which devices there are, what they can do and why one is refused.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <thread>

#include "base/error.h"
#include "vulkan/compute_units.h"
#include "vulkan/handles.h"
#include "vulkan/instance.h"
#include "vulkan/matrices.h"
#include "vulkan/subgroups.h"

namespace vkf {

namespace {

DeviceKind kind_of(VkPhysicalDeviceType type) {
    switch (type) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
            return DeviceKind::discrete;
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
            return DeviceKind::integrated;
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
            return DeviceKind::virtual_gpu;
        case VK_PHYSICAL_DEVICE_TYPE_CPU:
            return DeviceKind::cpu;
        default:
            return DeviceKind::other;
    }
}

std::set<std::string> extensions_of(VkPhysicalDevice physical) {
    std::uint32_t count = 0;
    check(vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr),
          "vkEnumerateDeviceExtensionProperties");
    std::vector<VkExtensionProperties> list(count);
    check(vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, list.data()),
          "vkEnumerateDeviceExtensionProperties");
    std::set<std::string> names;
    for (const VkExtensionProperties& extension : list) names.insert(extension.extensionName);
    return names;
}

/// The first family that computes; universal families come first on every driver we know.
bool compute_family(VkPhysicalDevice physical, std::uint32_t& family, std::uint32_t& timestamp_bits) {
    std::uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
    for (family = 0; family < count; ++family) {
        timestamp_bits = families[family].timestampValidBits;
        if (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) return true;
    }
    return false;
}

struct Properties {
    VkPhysicalDeviceProperties2 core{};
    VkPhysicalDeviceVulkan11Properties v11{};
    VkPhysicalDeviceVulkan12Properties v12{};
    VkPhysicalDeviceVulkan13Properties v13{};

    explicit Properties(VkPhysicalDevice physical) {
        core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
        v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
        v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
        v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES;
        core.pNext = &v11;
        v11.pNext = &v12;
        v12.pNext = &v13;
        vkGetPhysicalDeviceProperties2(physical, &core);
    }
};

struct Features {
    VkPhysicalDeviceFeatures2 core{};
    VkPhysicalDeviceVulkan11Features v11{};
    VkPhysicalDeviceVulkan12Features v12{};
    VkPhysicalDeviceVulkan13Features v13{};

    explicit Features(VkPhysicalDevice physical) {
        core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
        v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
        v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
        v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
        core.pNext = &v11;
        v11.pNext = &v12;
        v12.pNext = &v13;
        vkGetPhysicalDeviceFeatures2(physical, &core);
    }

    std::string missing() const {
        const std::pair<const char*, VkBool32> wanted[] = {
            {"bufferDeviceAddress", v12.bufferDeviceAddress},
            {"scalarBlockLayout", v12.scalarBlockLayout},
            {"timelineSemaphore", v12.timelineSemaphore},
            {"synchronization2", v13.synchronization2},
            {"subgroupSizeControl", v13.subgroupSizeControl},
            {"maintenance4", v13.maintenance4},
            {"subgroupBroadcastDynamicId", v12.subgroupBroadcastDynamicId},
            {"shaderInt64", core.features.shaderInt64},
        };
        std::string list;
        for (const auto& [name, present] : wanted)
            if (!present) list += (list.empty() ? "" : ", ") + std::string(name);
        return list;
    }
};

std::string refusal(const Properties& has, const Features& can, bool computes) {
    const std::uint32_t version = has.core.properties.apiVersion;
    if (version < VK_API_VERSION_1_3)
        return text("speaks Vulkan ", VK_API_VERSION_MAJOR(version), '.', VK_API_VERSION_MINOR(version),
                    ", wanted 1.3");
    if (!computes) return "has no queue that computes";
    if (const std::string list = can.missing(); !list.empty()) return "lacks " + list;
    const VkSubgroupFeatureFlags wanted = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT |
                                          VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    if ((has.v11.subgroupSupportedOperations & wanted) != wanted)
        return "lacks arithmetic, ballot or shuffle operations in subgroups";
    // Widths that Mesa's CPU device accepts and has no registers for: it computes wrongly or never ends compiling.
    const char* width = std::getenv("LP_NATIVE_VECTOR_WIDTH");
    if (has.v12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE && width && *width)
        if (const std::string bits = width; bits != "128" && bits != "256" && bits != "512")
            return text("has LP_NATIVE_VECTOR_WIDTH=", bits, ", wanted 128, 256 or 512");
    if (has.v11.subgroupSize < 4) return text("has subgroups of ", has.v11.subgroupSize, ", wanted at least 4");
    return {};
}

/// Each structure only where its extension is listed: a driver need not know the others.
ComputeUnitReport compute_unit_report(VkPhysicalDevice physical, DeviceKind kind,
                                      const std::set<std::string>& extensions) {
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    const auto ask = [&](const char* extension, auto& of, VkStructureType type) {
        if (!extensions.contains(extension)) return;
        of.sType = type;
        of.pNext = properties.pNext;
        properties.pNext = &of;
    };
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nvidia{};
    VkPhysicalDeviceShaderCorePropertiesAMD amd{};
    VkPhysicalDeviceShaderCoreProperties2AMD amd2{};
    VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm{};
    ask(VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME, nvidia,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV);
    ask(VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME, amd,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD);
    ask(VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME, amd2,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD);
    ask(VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME, arm,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM);
    vkGetPhysicalDeviceProperties2(physical, &properties);
    const char* wanted = std::getenv("VKFORMER_COMPUTE_UNITS");
    return {.kind = kind,
            .processors = std::thread::hardware_concurrency(),
            .multiprocessors = nvidia.shaderSMCount,
            .active = amd2.activeComputeUnitCount,
            .engines = amd.shaderEngineCount,
            .arrays_per_engine = amd.shaderArraysPerEngineCount,
            .units_per_array = amd.computeUnitsPerShaderArray,
            .cores = arm.shaderCoreCount,
            .wanted = wanted ? std::optional<std::string>(wanted) : std::nullopt};
}

Candidate judge(VkPhysicalDevice physical) {
    const Properties has(physical);
    const Features can(physical);
    const std::set<std::string> extensions = extensions_of(physical);
    const VkPhysicalDeviceLimits& limits = has.core.properties.limits;

    Candidate made;
    made.physical = physical;
    std::uint32_t timestamp_bits = 0;
    const bool computes = compute_family(physical, made.queue_family, timestamp_bits);
    made.subgroups =
        choose_subgroups({.vendor = has.core.properties.vendorID,
                          .reported = has.v11.subgroupSize,
                          .least = has.v13.minSubgroupSize,
                          .most = has.v13.maxSubgroupSize,
                          .full = can.v13.computeFullSubgroups == VK_TRUE,
                          .requirable = (has.v13.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0});
    made.memory_budget = extensions.contains(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    made.executable_properties = extensions.contains(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);

    DeviceInfo& info = made.info;
    info.name = has.core.properties.deviceName;
    info.driver = text(has.v12.driverName, ' ', has.v12.driverInfo);
    const std::uint32_t version = has.core.properties.apiVersion;
    info.api_version =
        text(VK_API_VERSION_MAJOR(version), '.', VK_API_VERSION_MINOR(version), '.', VK_API_VERSION_PATCH(version));
    info.kind = kind_of(has.core.properties.deviceType);
    info.refusal = refusal(has, can, computes);
    info.identity = text(has.core.properties.vendorID, '-', has.core.properties.deviceID, '-',
                         has.core.properties.driverVersion, '-', hexadecimal(has.v11.deviceUUID));
    info.compute_units = choose_compute_units(compute_unit_report(physical, info.kind, extensions));
    info.subgroup_size = made.subgroups.size;
    info.registers = made.subgroups.registers;
    info.max_group = std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]);
    if (made.subgroups.required)
        info.max_group = static_cast<std::uint32_t>(std::min<std::uint64_t>(
            info.max_group, std::uint64_t{info.subgroup_size} * has.v13.maxComputeWorkgroupSubgroups));
    info.shared_bytes = limits.maxComputeSharedMemorySize;
    info.push_constant_bytes = limits.maxPushConstantsSize;
    info.max_buffer_bytes = has.v13.maxBufferSize;
    info.buffer_bytes = std::min(has.v13.maxBufferSize, has.v11.maxMemoryAllocationSize) / 256 * 256;
    info.timestamp_ns = timestamp_bits ? static_cast<double>(limits.timestampPeriod) : 0.0;
    info.fp16 = can.v12.shaderFloat16;
    info.storage16 = can.v11.storageBuffer16BitAccess;
    info.int64 = can.core.features.shaderInt64;
    info.cooperative_matrix = extensions.contains("VK_KHR_cooperative_matrix");
    info.cooperative_matrix2 = extensions.contains("VK_NV_cooperative_matrix2");
    // Only whole subgroups of a known size can hold a matrix together. Mesa 26.1's CPU device crashes when it compiles
    // matrices for subgroups of 16, though it lists them.
    const bool crashes = has.v12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE && info.subgroup_size > 8;
    if (info.refusal.empty() && made.subgroups.known && !crashes) {
        info.matrices = matrix_shapes(physical, extensions);
        if (!info.matrices.empty()) {
            if (info.storage16) info.workgroup_matrices = workgroup_matrices(physical, extensions);
            // A workgroup of one subgroup is none.
            std::erase_if(info.workgroup_matrices, [&](auto& at) { return at.group <= info.subgroup_size; });
            info.flexible_matrices = flexible_matrices(physical, extensions);
        }
    }

    VkPhysicalDeviceMemoryProperties memory{};
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i)
        if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
            info.memory_bytes = std::max(info.memory_bytes, memory.memoryHeaps[i].size);
    return made;
}

}  // namespace

std::string_view to_string(DeviceKind kind) {
    switch (kind) {
        case DeviceKind::discrete:
            return "discrete GPU";
        case DeviceKind::integrated:
            return "integrated GPU";
        case DeviceKind::virtual_gpu:
            return "virtual GPU";
        case DeviceKind::cpu:
            return "CPU";
        case DeviceKind::other:
            break;
    }
    return "other";
}

std::vector<Candidate> candidates(VkInstance instance) {
    std::uint32_t count = 0;
    check(vkEnumeratePhysicalDevices(instance, &count, nullptr), "vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> physical(count);
    check(vkEnumeratePhysicalDevices(instance, &count, physical.data()), "vkEnumeratePhysicalDevices");
    std::vector<Candidate> list;
    for (const VkPhysicalDevice device : physical) list.push_back(judge(device));
    std::stable_sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) {
        const auto rank = [](const Candidate& c) {
            return std::pair(!c.info.refusal.empty(), static_cast<int>(c.info.kind));
        };
        return rank(a) < rank(b);
    });
    for (std::size_t i = 0; i < list.size(); ++i) list[i].info.index = static_cast<std::uint32_t>(i);
    return list;
}

std::vector<DeviceInfo> list_devices() {
    std::vector<DeviceInfo> list;
    const Instance instance;
    for (Candidate& candidate : candidates(instance.handle)) list.push_back(std::move(candidate.info));
    return list;
}

}  // namespace vkf
