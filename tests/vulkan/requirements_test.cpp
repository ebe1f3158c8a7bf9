#include "vulkan/device/requirements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "vulkan/device/matrices.h"
#include "vulkan/kernel/reflect.h"
#include "vulkan/kernel/spirv.h"

namespace vkf {
namespace {

/// A GPU with all features that kernels use.
PhysicalDevice everything() {
    PhysicalDevice made;
    made.properties.apiVersion = VK_API_VERSION_1_3;
    made.properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    made.properties.limits.maxComputeWorkGroupInvocations = made.properties.limits.maxComputeWorkGroupSize[0] = 1024;
    made.properties.limits.maxComputeSharedMemorySize = 32768;
    made.properties.limits.timestampPeriod = 1;
    made.properties11.subgroupSize = made.properties13.minSubgroupSize = 32;
    made.properties13.maxSubgroupSize = 64;
    made.properties11.subgroupSupportedOperations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT |
                                                    VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    made.properties12.shaderRoundingModeRTEFloat16 = VK_TRUE;
    made.properties13.requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
    made.features.shaderInt64 = made.features11.storageBuffer16BitAccess = VK_TRUE;
    made.features12.bufferDeviceAddress = made.features12.timelineSemaphore = VK_TRUE;
    made.features12.subgroupBroadcastDynamicId = made.features12.shaderFloat16 = VK_TRUE;
    made.features12.vulkanMemoryModel = VK_TRUE;
    made.features13.synchronization2 = made.features13.maintenance4 = VK_TRUE;
    made.features13.subgroupSizeControl = made.features13.computeFullSubgroups = VK_TRUE;
    made.extensions = {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME,
                       VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME, VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME,
                       bfloat16_extension};
    made.computes = true;
    made.timestamp_bits = 64;
    return made;
}

std::string names(const std::vector<MissingFeature>& list) {
    std::string made;
    for (const MissingFeature& at : list) {
        EXPECT_FALSE(at.cost.empty()) << at.name;
        made += (made.empty() ? "" : ", ") + at.name;
    }
    return made;
}

TEST(HostRequirements, ADeviceWithEverythingLacksNothing) {
    EXPECT_EQ(refusal(everything()), "");
    EXPECT_EQ(names(missing_optional(everything())), "");
}

TEST(HostRequirements, ADeviceIsRefusedByTheNamesOfAllThatItLacks) {
    PhysicalDevice device = everything();
    device.features.shaderInt64 = VK_FALSE;
    EXPECT_EQ(refusal(device), "lacks shaderInt64 (kernels load pairs of numbers as words of 64 bits)");
    device.properties11.subgroupSupportedOperations &=
        ~static_cast<VkSubgroupFeatureFlags>(VK_SUBGROUP_FEATURE_SHUFFLE_BIT);
    device.features12.timelineSemaphore = VK_FALSE;
    EXPECT_EQ(names(missing_required(device)), "timelineSemaphore, shaderInt64, shuffle operations in subgroups");
    EXPECT_NE(refusal(device).find("timelineSemaphore ("), std::string::npos);
    EXPECT_NE(refusal(device).find("), shuffle operations in subgroups (attention"), std::string::npos);

    const auto refused = [](auto change) {
        PhysicalDevice changed = everything();
        change(changed);
        return refusal(changed);
    };
    EXPECT_EQ(refused([](auto& d) { d.properties.apiVersion = VK_API_VERSION_1_2; }), "speaks Vulkan 1.2, wanted 1.3");
    EXPECT_EQ(refused([](auto& d) { d.computes = false; }), "has no queue that computes");
    EXPECT_EQ(refused([](auto& d) { d.properties11.subgroupSize = 1; }), "has subgroups of 1, wanted at least 4");
    for (VkBool32 VkPhysicalDeviceVulkan13Features::*feature :
         {&VkPhysicalDeviceVulkan13Features::synchronization2, &VkPhysicalDeviceVulkan13Features::maintenance4})
        EXPECT_NE(refused([&](auto& d) { d.features13.*feature = VK_FALSE; }), "");
    for (VkBool32 VkPhysicalDeviceVulkan12Features::*feature :
         {&VkPhysicalDeviceVulkan12Features::bufferDeviceAddress,
          &VkPhysicalDeviceVulkan12Features::subgroupBroadcastDynamicId})
        EXPECT_NE(refused([&](auto& d) { d.features12.*feature = VK_FALSE; }), "");
}

TEST(HostRequirements, WhatIsUsedWhereItIsThereIsNamedWhereItIsNot) {
    const auto lacks = [](auto change) {
        PhysicalDevice changed = everything();
        change(changed);
        EXPECT_EQ(refusal(changed), "");
        return names(missing_optional(changed));
    };
    EXPECT_EQ(lacks([](auto& d) { d.timestamp_bits = 0; }), "timestamps");
    EXPECT_EQ(lacks([](auto& d) { d.extensions.erase(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME); }), "VK_EXT_memory_budget");
    EXPECT_EQ(lacks([](auto& d) { d.extensions.erase(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME); }),
              "VK_KHR_pipeline_executable_properties");
    EXPECT_EQ(lacks([](auto& d) { d.properties.limits.maxComputeWorkGroupSize[0] = 128; }), "workgroups of 256");
    EXPECT_EQ(lacks([](auto& d) { d.properties.limits.maxComputeSharedMemorySize = 16384; }),
              "32 KiB of shared memory");
    EXPECT_EQ(lacks([](auto& d) { d.features12.vulkanMemoryModel = VK_FALSE; }), "vulkanMemoryModel");
    EXPECT_EQ(lacks([](auto& d) { d.features13.computeFullSubgroups = VK_FALSE; }), "computeFullSubgroups");
    EXPECT_EQ(lacks([](auto& d) { d.features13.subgroupSizeControl = VK_FALSE; }),
              "subgroups of a size that can be required");
    EXPECT_EQ(lacks([](auto& d) { d.features12.shaderFloat16 = VK_FALSE; }), "shaderFloat16");
    EXPECT_EQ(lacks([](auto& d) { d.extensions.erase(bfloat16_extension); }), "VK_KHR_shader_bfloat16");
    EXPECT_EQ(lacks([](auto& d) { d.features11.storageBuffer16BitAccess = VK_FALSE; }), "storageBuffer16BitAccess");
    EXPECT_EQ(lacks([](auto& d) { d.extensions.erase(VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME); }),
              "VK_NV_cooperative_matrix2");
    // Without matrix units, the features that they would need do not matter; and a CPU's kernels do not use them.
    const auto without_matrices = [](auto& d) {
        d.extensions.erase(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
        d.features12.shaderFloat16 = VK_FALSE;
    };
    EXPECT_EQ(lacks(without_matrices), "VK_KHR_cooperative_matrix");
    EXPECT_EQ(lacks([&](auto& d) {
                  without_matrices(d);
                  d.properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_CPU;
                  d.properties.limits.maxComputeSharedMemorySize = 16384;
              }),
              "VK_EXT_external_memory_host");
    EXPECT_EQ(lacks([](auto& d) { d.sleeps = true; }), "permission to write to /dev/cpu_dma_latency");
}

// SPIR-V's capabilities by number, each with the feature that a device must have.
TEST(HostRequirements, AreExactlyWhatKernelsDeclare) {
    const std::map<std::uint32_t, std::string> required{
        {11, "shaderInt64"},
        {61, "basic operations in subgroups"},
        {63, "arithmetic operations in subgroups"},
        {64, "ballot operations in subgroups"},
        {65, "shuffle operations in subgroups"},
        {5347, "bufferDeviceAddress"},
    };
    constexpr std::uint32_t shader = 1, cooperative_matrix = 6022;
    const std::string refused = names(missing_required(PhysicalDevice()));
    std::set<std::uint32_t> declared;
    for (const SpirvModule& module : embedded_spirv()) {
        const std::vector<std::uint32_t> list = capabilities(module.words);
        if (std::ranges::find(list, cooperative_matrix) != list.end()) continue;  // optional, with all its requirements
        for (const std::uint32_t capability : list) {
            EXPECT_TRUE(capability == shader || required.contains(capability))
                << module.name << " declares capability " << capability << ", which no device is asked for";
            declared.insert(capability);
        }
    }
    for (const auto& [capability, name] : required) {
        EXPECT_TRUE(declared.contains(capability)) << name << " is asked for, and no kernel declares it";
        EXPECT_NE(refused.find(name), std::string::npos) << name << " is not asked for";
    }
}

TEST(HostRequirements, ExtensionsAreEnabledWhereTheyAreListedAndUsed) {
    const auto wanted = [](std::set<std::string> listed, const DeviceInfo& info) {
        std::string made;
        for (const char* name : wanted_extensions(listed, info)) made += std::string(name) + ' ';
        return made;
    };
    DeviceInfo info;
    EXPECT_EQ(wanted({"VK_KHR_cooperative_matrix", "VK_KHR_maintenance5"}, info), "");
    const std::set<std::string> of_a_cpu{"VK_EXT_external_memory_host", "VK_EXT_shader_object"};
    EXPECT_EQ(wanted(of_a_cpu, info), "") << "a GPU's memory is its own, and its driver keeps pipelines";
    info.kind = DeviceKind::cpu;
    EXPECT_EQ(wanted(of_a_cpu, info), "VK_EXT_external_memory_host VK_EXT_shader_object ");
    info.kind = DeviceKind::other;
    EXPECT_EQ(wanted({"VK_KHR_portability_subset", "VK_EXT_memory_budget"}, info),
              "VK_EXT_memory_budget VK_KHR_portability_subset ");
    info.matrices = {{16, 16, 16, MatrixElement::bf16}};
    EXPECT_EQ(wanted({}, info), "VK_KHR_cooperative_matrix VK_KHR_shader_bfloat16 ");
    info.matrices = {{16, 16, 16, MatrixElement::fp16}};
    info.flexible_matrices = true;
    EXPECT_EQ(wanted({}, info), "VK_KHR_cooperative_matrix VK_NV_cooperative_matrix2 ");
}

}  // namespace
}  // namespace vkf
