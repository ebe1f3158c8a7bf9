#include "vulkan/device/matrices.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "vulkan/handles.h"

namespace vkf {

// --- Names ---------------------------------------------------------------------------------------

namespace {

std::string component_name(VkComponentTypeKHR type) {
    // By number, because headers before 1.4.317 lack the last names.
    constexpr std::array<std::pair<std::uint32_t, const char*>, 16> names{{{0, "fp16"},
                                                                           {1, "fp32"},
                                                                           {2, "fp64"},
                                                                           {3, "sint8"},
                                                                           {4, "sint16"},
                                                                           {5, "sint32"},
                                                                           {6, "sint64"},
                                                                           {7, "uint8"},
                                                                           {8, "uint16"},
                                                                           {9, "uint32"},
                                                                           {10, "uint64"},
                                                                           {1000141000, "bf16"},
                                                                           {1000491000, "sint8 packed"},
                                                                           {1000491001, "uint8 packed"},
                                                                           {1000491002, "fp8 e4m3"},
                                                                           {1000491003, "fp8 e5m2"}}};
    for (const auto& [number, name] : names)
        if (number == static_cast<std::uint32_t>(type)) return name;
    return text(static_cast<std::uint32_t>(type));
}

std::string scope_name(VkScopeKHR scope) {
    if (scope == VK_SCOPE_SUBGROUP_KHR) return "subgroup";
    if (scope == VK_SCOPE_WORKGROUP_KHR) return "workgroup";
    return text(static_cast<std::uint32_t>(scope));
}

MatrixElement element_of(const ListedMatrix& at) {
    return at.a == "bf16" ? MatrixElement::bf16 : MatrixElement::fp16;
}

}  // namespace

// --- Requirements of kernels ---------------------------------------------------------------------

VkPhysicalDeviceCooperativeMatrix2FeaturesNV wanted_matrices2(bool of_workgroups) {
    VkPhysicalDeviceCooperativeMatrix2FeaturesNV features{};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV;
    features.cooperativeMatrixFlexibleDimensions = features.cooperativeMatrixPerElementOperations = VK_TRUE;
    features.cooperativeMatrixReductions = features.cooperativeMatrixConversions = VK_TRUE;
    features.cooperativeMatrixWorkgroupScope = of_workgroups;
    features.cooperativeMatrixTensorAddressing = features.cooperativeMatrixBlockLoads = of_workgroups;
    return features;
}

namespace {

/// Message for the first wanted feature that a device lacks; empty if it has all.
std::string missing_of_matrices2(const VkPhysicalDeviceCooperativeMatrix2FeaturesNV& has, bool of_workgroups) {
    using Has = VkPhysicalDeviceCooperativeMatrix2FeaturesNV;
    constexpr std::array<std::pair<VkBool32 Has::*, const char*>, 7> features{
        {{&Has::cooperativeMatrixFlexibleDimensions, "cooperativeMatrixFlexibleDimensions"},
         {&Has::cooperativeMatrixPerElementOperations, "cooperativeMatrixPerElementOperations"},
         {&Has::cooperativeMatrixReductions, "cooperativeMatrixReductions"},
         {&Has::cooperativeMatrixConversions, "cooperativeMatrixConversions"},
         {&Has::cooperativeMatrixWorkgroupScope, "cooperativeMatrixWorkgroupScope"},
         {&Has::cooperativeMatrixTensorAddressing, "cooperativeMatrixTensorAddressing"},
         {&Has::cooperativeMatrixBlockLoads, "cooperativeMatrixBlockLoads"}}};
    const Has wanted = wanted_matrices2(of_workgroups);
    for (const auto& [member, name] : features)
        if (wanted.*member && !(has.*member)) return text(name, " is missing");
    return {};
}

void ask_matrices2(VkPhysicalDevice physical, MatrixAbilities& can) {
    VkPhysicalDeviceCooperativeMatrix2FeaturesNV has{};
    has.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV;
    VkPhysicalDeviceFeatures2 features{};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features.pNext = &has;
    vkGetPhysicalDeviceFeatures2(physical, &features);

    VkPhysicalDeviceCooperativeMatrix2PropertiesNV limits{};
    limits.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_PROPERTIES_NV;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &limits;
    vkGetPhysicalDeviceProperties2(physical, &properties);
    can.most_invocations = limits.cooperativeMatrixWorkgroupScopeMaxWorkgroupSize;
    constexpr std::uint32_t widest = 128;
    const std::uint32_t most = limits.cooperativeMatrixFlexibleDimensionsMaxDimension;
    const std::string narrow = most < widest ? text("extents go up to ", most, ", wanted ", widest) : std::string();
    const auto first = [](const std::string& a, const std::string& b) { return a.empty() ? b : a; };
    can.subgroups = first(missing_of_matrices2(has, false), narrow);
    can.workgroups = first(can.workgroups, first(missing_of_matrices2(has, true), narrow));
}

}  // namespace

MatrixAbilities matrix_abilities(VkPhysicalDevice physical, const std::set<std::string>& extensions,
                                 std::uint32_t subgroup_size, std::string refusal) {
    MatrixAbilities can{.refusal = std::move(refusal), .subgroup_size = subgroup_size};
    if (!extensions.contains(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME)) return can;
    const bool has_bfloat16 = extensions.contains(bfloat16_extension);
    Bfloat16Features bf16;
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices{};
    matrices.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR;
    matrices.pNext = has_bfloat16 ? &bf16 : nullptr;
    VkPhysicalDeviceVulkan11Features v11{};
    v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    v11.pNext = &matrices;
    VkPhysicalDeviceVulkan12Features v12{};
    v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    v12.pNext = &v11;
    VkPhysicalDeviceFeatures2 features{};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features.pNext = &v12;
    vkGetPhysicalDeviceFeatures2(physical, &features);

    VkPhysicalDeviceVulkan12Properties properties12{};
    properties12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &properties12;
    vkGetPhysicalDeviceProperties2(physical, &properties);

    if (can.refusal.empty() && !matrices.cooperativeMatrix) can.refusal = "cooperativeMatrix is missing";
    if (can.refusal.empty() && !v12.vulkanMemoryModel) can.refusal = "vulkanMemoryModel is missing";
    // The kernel for fp16 requires rounding to nearest by the device; the kernel for bf16 rounds by its own code.
    if (!v12.shaderFloat16)
        can.fp16 = "shaderFloat16 is missing";
    else if (!properties12.shaderRoundingModeRTEFloat16)
        can.fp16 = "shaderRoundingModeRTEFloat16 is missing";
    if (!bf16.type || !bf16.cooperative_matrix) can.bf16 = text(bfloat16_extension, " does not give them");
    if (!v11.storageBuffer16BitAccess) can.workgroups = "storageBuffer16BitAccess is missing";
    if (extensions.contains(VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME)) ask_matrices2(physical, can);
    return can;
}

std::string refusal(const ListedMatrix& at, const MatrixAbilities& can) {
    if (!can.refusal.empty()) return can.refusal;
    if (at.a != "fp16" && at.a != "bf16") return "factors are neither fp16 nor bf16";
    if (at.b != at.a) return "factors are of two types";
    if (at.c != "fp32" || at.result != "fp32") return "sums are not fp32";
    if (at.saturates) return "sums saturate";
    if (const std::string& lack = at.a == "fp16" ? can.fp16 : can.bf16; !lack.empty()) return lack;
    const auto all = [&](auto fits) { return fits(at.m) && fits(at.n) && fits(at.k); };
    const auto divides = [](std::uint32_t extent) {
        return [=](std::uint32_t granularity) { return granularity > 0 && extent % granularity == 0; };
    };
    if (!at.flexible) {
        if (at.scope != "subgroup") return text("held by a ", at.scope);
        // Extents that divide a kernel's slices.
        if (!all([](std::uint32_t extent) { return extent == 8 || extent == 16; })) return "extents are not 8 or 16";
        return {};
    }
    if (at.scope != "subgroup" && at.scope != "workgroup") return text("held by a scope ", at.scope);
    const bool of_workgroup = at.scope == "workgroup";
    if (const std::string& lack = of_workgroup ? can.workgroups : can.subgroups; !lack.empty()) return lack;
    if (!of_workgroup && at.a != "fp16") return "flexible ones of a subgroup are used with fp16";
    if (!all(divides(of_workgroup ? 32 : 8))) return text("extents of ", of_workgroup ? 32 : 8, " are not among them");
    if (at.invocations > can.most_invocations) return text("workgroups have at most ", can.most_invocations);
    if (of_workgroup && at.invocations <= can.subgroup_size) return "a workgroup of one subgroup";
    return {};
}

// --- Lists ---------------------------------------------------------------------------------------

namespace {

std::vector<ListedMatrix> list_shapes(VkPhysicalDevice physical) {
    const char* call = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR";
    std::uint32_t count = 0;
    check(vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(physical, &count, nullptr), call);
    VkCooperativeMatrixPropertiesKHR blank{};
    blank.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
    std::vector<VkCooperativeMatrixPropertiesKHR> list(count, blank);
    check(vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(physical, &count, list.data()), call);
    std::vector<ListedMatrix> made;
    for (const VkCooperativeMatrixPropertiesKHR& at : list)
        made.push_back({.m = at.MSize,
                        .n = at.NSize,
                        .k = at.KSize,
                        .a = component_name(at.AType),
                        .b = component_name(at.BType),
                        .c = component_name(at.CType),
                        .result = component_name(at.ResultType),
                        .scope = scope_name(at.scope),
                        .saturates = at.saturatingAccumulation == VK_TRUE});
    return made;
}

std::vector<ListedMatrix> list_flexible(VkPhysicalDevice physical) {
    const char* call = "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV";
    std::uint32_t count = 0;
    check(vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV(physical, &count, nullptr), call);
    VkCooperativeMatrixFlexibleDimensionsPropertiesNV blank{};
    blank.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS_PROPERTIES_NV;
    std::vector<VkCooperativeMatrixFlexibleDimensionsPropertiesNV> list(count, blank);
    check(vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV(physical, &count, list.data()), call);
    std::vector<ListedMatrix> made;
    for (const VkCooperativeMatrixFlexibleDimensionsPropertiesNV& at : list)
        made.push_back({.flexible = true,
                        .m = at.MGranularity,
                        .n = at.NGranularity,
                        .k = at.KGranularity,
                        .a = component_name(at.AType),
                        .b = component_name(at.BType),
                        .c = component_name(at.CType),
                        .result = component_name(at.ResultType),
                        .scope = scope_name(at.scope),
                        .invocations = at.workgroupInvocations,
                        .saturates = at.saturatingAccumulation == VK_TRUE});
    return made;
}

}  // namespace

std::vector<ListedMatrix> listed_matrices(VkPhysicalDevice physical, const std::set<std::string>& extensions,
                                          const MatrixAbilities& can) {
    std::vector<ListedMatrix> made;
    if (!extensions.contains(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME)) return made;
    made = list_shapes(physical);
    for (ListedMatrix& at : made) at.refusal = refusal(at, can);
    if (!extensions.contains(VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME)) return made;
    const bool usable = std::ranges::any_of(made, [](const ListedMatrix& at) { return at.refusal.empty(); });
    for (ListedMatrix& at : list_flexible(physical)) {
        at.refusal = refusal(at, can);
        if (!usable && at.refusal.empty()) at.refusal = "no matrix of fixed extents is usable";
        made.push_back(std::move(at));
    }
    return made;
}

std::vector<MatrixShape> matrix_shapes(const std::vector<ListedMatrix>& listed) {
    std::vector<MatrixShape> shapes;
    for (const ListedMatrix& at : listed) {
        if (at.flexible || !at.refusal.empty()) continue;
        const MatrixShape shape{at.m, at.n, at.k, element_of(at)};
        if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
    }
    return shapes;
}

std::vector<GroupMatrices> workgroup_matrices(const std::vector<ListedMatrix>& listed) {
    std::vector<GroupMatrices> made;
    for (const ListedMatrix& at : listed)
        if (at.flexible && at.refusal.empty() && at.scope == "workgroup")
            made.push_back({at.invocations, element_of(at)});
    std::ranges::sort(made);
    made.erase(std::ranges::unique(made).begin(), made.end());
    return made;
}

bool flexible_matrices(const std::vector<ListedMatrix>& listed) {
    return std::ranges::any_of(
        listed, [](const ListedMatrix& at) { return at.flexible && at.refusal.empty() && at.scope == "subgroup"; });
}

}  // namespace vkf
