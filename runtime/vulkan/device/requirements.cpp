#include "vulkan/device/requirements.h"

#include <algorithm>

#include "base/error.h"
#include "vulkan/cpu/lavapipe.h"
#include "vulkan/device/matrices.h"
#include "vulkan/device/queue_family.h"

namespace vkf {

namespace {

struct Feature {
    const char* name;
    bool present;
    const char* use;  // use of the feature, or cost of its absence
};

std::vector<MissingFeature> absent(const std::vector<Feature>& list) {
    std::vector<MissingFeature> made;
    for (const Feature& feature : list)
        if (!feature.present) made.push_back({feature.name, feature.use});
    return made;
}

}  // namespace

std::vector<MissingFeature> missing_required(const PhysicalDevice& device) {
    const VkSubgroupFeatureFlags subgroups = device.properties11.subgroupSupportedOperations;
    return absent({
        // Vulkan 1.3 promises these.
        {"bufferDeviceAddress", device.features12.bufferDeviceAddress == VK_TRUE, "kernels are given addresses"},
        {"timelineSemaphore", device.features12.timelineSemaphore == VK_TRUE, "runs are waited for by their numbers"},
        {"synchronization2", device.features13.synchronization2 == VK_TRUE, "barriers are of its kind"},
        {"maintenance4", device.features13.maintenance4 == VK_TRUE, "constants decide how large workgroups are"},
        {"subgroupBroadcastDynamicId", device.features12.subgroupBroadcastDynamicId == VK_TRUE,
         "kernels broadcast from lanes that a loop counts"},
        // Without shaderInt64 a CPU would load half as much at once, and sampling would need sums of two words.
        {"shaderInt64", device.features.shaderInt64 == VK_TRUE, "kernels load pairs of numbers as words of 64 bits"},
        {"basic operations in subgroups", (subgroups & VK_SUBGROUP_FEATURE_BASIC_BIT) != 0,
         "kernels ask for an invocation's place in its subgroup"},
        {"arithmetic operations in subgroups", (subgroups & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0,
         "kernels add up and compare in subgroups"},
        {"ballot operations in subgroups", (subgroups & VK_SUBGROUP_FEATURE_BALLOT_BIT) != 0,
         "products broadcast their operands in subgroups"},
        {"shuffle operations in subgroups", (subgroups & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) != 0,
         "attention exchanges rows in subgroups"},
    });
}

std::vector<MissingFeature> missing_optional(const PhysicalDevice& device) {
    const VkPhysicalDeviceLimits& limits = device.properties.limits;
    const bool cpu = device.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const auto lists = [&](const char* extension) { return device.extensions.contains(extension); };
    std::vector<MissingFeature> made = absent({
        {"timestamps", device.timestamp_bits > 0 && limits.timestampPeriod > 0,
         "kernels are chosen by the processor's clock; bench kernels and --by-op are refused"},
        {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, lists(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME),
         "what other programs use counts as free memory"},
        {VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME,
         lists(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME), "bench compile is refused"},
        {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, !cpu || lists(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME),
         "memory lies in small pages: a token of SmolLM2 takes 5 % longer"},
        {"permission to write to /dev/cpu_dma_latency", !device.sleeps,
         "processors fall asleep between kernels: short ones take up to twice as long"},
    });
    if (cpu) return made;

    constexpr std::uint32_t usual_group = 256, usual_shared = 32768;
    const bool requirable = (device.properties13.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                            device.features13.subgroupSizeControl == VK_TRUE;
    const bool one_size = device.properties13.minSubgroupSize == device.properties13.maxSubgroupSize;
    const std::vector<MissingFeature> of_gpus = absent({
        {"workgroups of 256",
         std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]) >= usual_group,
         "workgroups and tiles are smaller"},
        {"32 KiB of shared memory", limits.maxComputeSharedMemorySize >= usual_shared, "tiles are smaller"},
        {VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME, lists(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME),
         "mixed precision computes products and attention in fp32, without matrix units"},
    });
    made.insert(made.end(), of_gpus.begin(), of_gpus.end());
    if (!lists(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME)) return made;

    const std::vector<MissingFeature> of_matrices = absent({
        {"vulkanMemoryModel", device.features12.vulkanMemoryModel == VK_TRUE, "matrix units are not used"},
        {"computeFullSubgroups", device.features13.computeFullSubgroups == VK_TRUE, "matrix units are not used"},
        {"subgroups of a size that can be required", requirable || one_size, "matrix units are not used"},
        {"shaderFloat16", device.features12.shaderFloat16 == VK_TRUE, "matrix units are not used for fp16"},
        {"shaderRoundingModeRTEFloat16", device.properties12.shaderRoundingModeRTEFloat16 == VK_TRUE,
         "matrix units are not used for fp16"},
        {bfloat16_extension, lists(bfloat16_extension), "matrix units are not used for bfloat16"},
        {VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME, lists(VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME),
         "matrices are a subgroup's, not a workgroup's"},
    });
    made.insert(made.end(), of_matrices.begin(), of_matrices.end());
    if (lists(VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME) && device.features11.storageBuffer16BitAccess != VK_TRUE)
        made.push_back({"storageBuffer16BitAccess", "matrices are a subgroup's, not a workgroup's"});
    return made;
}

std::string refusal(const PhysicalDevice& device) {
    const std::uint32_t version = device.properties.apiVersion;
    if (version < VK_API_VERSION_1_3)
        return text("speaks Vulkan ", VK_API_VERSION_MAJOR(version), '.', VK_API_VERSION_MINOR(version),
                    ", wanted 1.3");
    if (!device.computes) {
        const auto wanted = wanted_queue_family();
        return "has no queue that computes" + (wanted ? " in family " + *wanted + " (VKFORMER_QUEUE_FAMILY)" : "");
    }
    std::string lacks;
    for (const MissingFeature& feature : missing_required(device))
        lacks += text(lacks.empty() ? "lacks " : ", ", feature.name, " (", feature.cost, ')');
    if (!lacks.empty()) return lacks;
    if (std::string width = vector_width_refusal(device); !width.empty()) return width;
    if (device.properties11.subgroupSize < 4)
        return text("has subgroups of ", device.properties11.subgroupSize, ", wanted at least 4");
    return {};
}

std::vector<const char*> wanted_extensions(const std::set<std::string>& listed, const DeviceInfo& info) {
    std::vector<const char*> made;
    for (const char* name : {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME,
                             VK_EXT_DEVICE_FAULT_EXTENSION_NAME, "VK_KHR_portability_subset"})
        if (listed.contains(name)) made.push_back(name);
    // For CPU devices only. Shader objects replace a pipeline cache that keeps nothing (vulkan/cpu/shader_objects.h);
    // GPUs' drivers have better caches.
    for (const char* name : {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, VK_EXT_SHADER_OBJECT_EXTENSION_NAME})
        if (info.kind == DeviceKind::cpu && listed.contains(name)) made.push_back(name);
    if (!info.matrices.empty()) made.push_back(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    if (std::ranges::any_of(info.matrices, [](auto& m) { return m.element == MatrixElement::bf16; }))
        made.push_back(bfloat16_extension);
    if (!info.workgroup_matrices.empty() || info.flexible_matrices)
        made.push_back(VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME);
    return made;
}

}  // namespace vkf
