// List of devices: their abilities, and the reasons why one is refused.

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <thread>

#include "base/error.h"
#include "vulkan/cpu/lavapipe.h"
#include "vulkan/device/compute_units.h"
#include "vulkan/device/instance.h"
#include "vulkan/device/matrices.h"
#include "vulkan/device/physical_device.h"
#include "vulkan/device/requirements.h"
#include "vulkan/device/subgroups.h"
#include "vulkan/handles.h"

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

/// Queries each structure only if its extension is listed: a driver need not know others.
ComputeUnitReport compute_unit_report(VkPhysicalDevice physical, DeviceKind kind,
                                      const std::set<std::string>& extensions) {
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    const auto ask = [&](const char* extension, auto& answer, VkStructureType type) {
        if (!extensions.contains(extension)) return;
        answer.sType = type;
        answer.pNext = properties.pNext;
        properties.pNext = &answer;
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
    const PhysicalDevice has(physical);
    const VkPhysicalDeviceLimits& limits = has.properties.limits;

    Candidate made;
    made.physical = physical;
    made.queue_family = has.queue_family;
    made.subgroups =
        choose_subgroups({.vendor = has.properties.vendorID,
                          .reported = has.properties11.subgroupSize,
                          .least = has.properties13.minSubgroupSize,
                          .most = has.properties13.maxSubgroupSize,
                          .full = has.features13.computeFullSubgroups == VK_TRUE,
                          .requirable = has.features13.subgroupSizeControl == VK_TRUE &&
                                        (has.properties13.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT)});

    DeviceInfo& info = made.info;
    info.name = has.properties.deviceName;
    info.driver = text(has.properties12.driverName, ' ', has.properties12.driverInfo);
    const std::uint32_t version = has.properties.apiVersion;
    info.api_version =
        text(VK_API_VERSION_MAJOR(version), '.', VK_API_VERSION_MINOR(version), '.', VK_API_VERSION_PATCH(version));
    info.kind = kind_of(has.properties.deviceType);
    info.refusal = refusal(has);
    info.missing = missing_optional(has);
    info.identity = text(has.properties.vendorID, '-', has.properties.deviceID, '-', has.properties.driverVersion);
    info.compute_units = choose_compute_units(compute_unit_report(physical, info.kind, has.extensions));
    info.subgroup_size = made.subgroups.size;
    info.registers = made.subgroups.registers;
    info.max_group = std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]);
    if (made.subgroups.required)
        info.max_group = static_cast<std::uint32_t>(std::min<std::uint64_t>(
            info.max_group, std::uint64_t{info.subgroup_size} * has.properties13.maxComputeWorkgroupSubgroups));
    info.shared_bytes = limits.maxComputeSharedMemorySize;
    info.push_constant_bytes = limits.maxPushConstantsSize;
    info.memory_bytes = has.memory_bytes;
    info.max_buffer_bytes = has.properties13.maxBufferSize;
    info.buffer_bytes = std::min(has.properties13.maxBufferSize, has.properties11.maxMemoryAllocationSize) / 256 * 256;
    info.timestamp_ns = has.timestamp_bits ? static_cast<double>(limits.timestampPeriod) : 0.0;
    const CpuDriverTraits of_driver = cpu_driver_traits(has, info.subgroup_size);
    info.uniform_loads = of_driver.loads_vectors && info.subgroup_size <= 16;
    info.checked_pushes = of_driver.checks_pushes;
    info.fp16 = has.features12.shaderFloat16;
    info.storage16 = has.features11.storageBuffer16BitAccess;
    info.int64 = has.features.shaderInt64;
    info.cooperative_matrix = has.extensions.contains("VK_KHR_cooperative_matrix");
    info.cooperative_matrix2 = has.extensions.contains("VK_NV_cooperative_matrix2");
    // Only full subgroups of a known size can hold a matrix together.
    made.no_matrices = !made.subgroups.known      ? "subgroups may differ in size"
                       : of_driver.matrices_crash ? "its driver cannot compile them for subgroups of 16"
                                                  : "";
    made.listed = has.extensions;
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
    const VkResult found = vkEnumeratePhysicalDevices(instance, &count, nullptr);
    if (found == VK_ERROR_INITIALIZATION_FAILED)
        throw Error("no Vulkan device on this machine: its drivers find no GPU or may not open it (Linux: /dev/dri)");
    check(found, "vkEnumeratePhysicalDevices");
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

void complete(Candidate& candidate, const MatrixTrial& trial) {
    DeviceInfo& info = candidate.info;
    if (info.cooperative_matrix && info.refusal.empty() && trial) info.matrix_faults = trial(info);
    if (info.cooperative_matrix && info.refusal.empty() && !info.matrix_faults.contains("list")) {
        MatrixAbilities can =
            matrix_abilities(candidate.physical, candidate.listed, info.subgroup_size, candidate.no_matrices);
        for (const auto& [part, fault] : info.matrix_faults)
            (part == "fp16" ? can.fp16 : part == "bf16" ? can.bf16 : can.workgroups) = fault;
        candidate.matrices = listed_matrices(candidate.physical, candidate.listed, can);
    }
    info.matrices = matrix_shapes(candidate.matrices);
    info.workgroup_matrices = workgroup_matrices(candidate.matrices);
    info.flexible_matrices = flexible_matrices(candidate.matrices);
    candidate.extensions = wanted_extensions(candidate.listed, info);
}

std::vector<DeviceInfo> list_devices(const MatrixTrial& trial) {
    std::vector<DeviceInfo> list;
    const Instance instance;
    for (Candidate& candidate : candidates(instance.handle)) {
        complete(candidate, trial);
        list.push_back(std::move(candidate.info));
    }
    return list;
}

}  // namespace vkf
