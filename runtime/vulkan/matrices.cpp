#include "vulkan/matrices.h"

#include <algorithm>
#include <optional>

#include "vulkan/handles.h"

namespace vkf {

namespace {

/// What the device's features let a kernel multiply, whatever shapes it lists.
struct Abilities {
    bool matrices = false;
    bool fp16 = false;
    bool bf16 = false;
};

Abilities abilities(VkPhysicalDevice physical, bool has_bfloat16) {
    Bfloat16Features bf16;
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices{};
    matrices.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR;
    matrices.pNext = has_bfloat16 ? &bf16 : nullptr;
    VkPhysicalDeviceVulkan12Features v12{};
    v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    v12.pNext = &matrices;
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

    // The kernel for fp16 demands rounding to nearest; the one for bf16 rounds by itself.
    return {matrices.cooperativeMatrix && v12.vulkanMemoryModel,
            v12.shaderFloat16 && properties12.shaderRoundingModeRTEFloat16, bf16.type && bf16.cooperative_matrix};
}

std::optional<MatrixElement> element_of(VkComponentTypeKHR type) {
    constexpr auto bfloat16 = static_cast<VkComponentTypeKHR>(1000141000);
    if (type == VK_COMPONENT_TYPE_FLOAT16_KHR) return MatrixElement::fp16;
    if (type == bfloat16) return MatrixElement::bf16;
    return std::nullopt;
}

/// What matrices of any extent the device lists, with sums in fp32; nothing, if it lacks what kernels need for them.
std::vector<VkCooperativeMatrixFlexibleDimensionsPropertiesNV> flexible(VkPhysicalDevice physical,
                                                                        const std::set<std::string>& extensions,
                                                                        bool of_workgroups) {
    std::vector<VkCooperativeMatrixFlexibleDimensionsPropertiesNV> list;
    if (!extensions.contains(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME) ||
        !extensions.contains(VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME) || !abilities(physical, false).matrices)
        return list;
    VkPhysicalDeviceCooperativeMatrix2FeaturesNV has{};
    has.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV;
    VkPhysicalDeviceFeatures2 features{};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features.pNext = &has;
    vkGetPhysicalDeviceFeatures2(physical, &features);
    const VkPhysicalDeviceCooperativeMatrix2FeaturesNV wanted = wanted_matrices2(of_workgroups);
    const auto lacks = [&](auto member) { return wanted.*member && !(has.*member); };
    using Has = VkPhysicalDeviceCooperativeMatrix2FeaturesNV;
    if (lacks(&Has::cooperativeMatrixFlexibleDimensions) || lacks(&Has::cooperativeMatrixPerElementOperations) ||
        lacks(&Has::cooperativeMatrixReductions) || lacks(&Has::cooperativeMatrixConversions) ||
        lacks(&Has::cooperativeMatrixWorkgroupScope) || lacks(&Has::cooperativeMatrixTensorAddressing) ||
        lacks(&Has::cooperativeMatrixBlockLoads))
        return list;

    VkPhysicalDeviceCooperativeMatrix2PropertiesNV limits{};
    limits.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_PROPERTIES_NV;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &limits;
    vkGetPhysicalDeviceProperties2(physical, &properties);
    constexpr std::uint32_t widest = 128;
    if (limits.cooperativeMatrixFlexibleDimensionsMaxDimension < widest) return list;

    std::uint32_t count = 0;
    const char* call = "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV";
    check(vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV(physical, &count, nullptr), call);
    VkCooperativeMatrixFlexibleDimensionsPropertiesNV blank{};
    blank.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS_PROPERTIES_NV;
    list.resize(count, blank);
    check(vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV(physical, &count, list.data()), call);
    std::erase_if(list, [&](const VkCooperativeMatrixFlexibleDimensionsPropertiesNV& at) {
        return at.BType != at.AType || at.CType != VK_COMPONENT_TYPE_FLOAT32_KHR || at.ResultType != at.CType ||
               at.saturatingAccumulation ||
               at.workgroupInvocations > limits.cooperativeMatrixWorkgroupScopeMaxWorkgroupSize;
    });
    return list;
}

/// Whether all extents may be multiples of `extent`.
bool divide(const VkCooperativeMatrixFlexibleDimensionsPropertiesNV& at, std::uint32_t extent) {
    const auto divides = [&](std::uint32_t granularity) { return granularity > 0 && extent % granularity == 0; };
    return divides(at.MGranularity) && divides(at.NGranularity) && divides(at.KGranularity);
}

}  // namespace

std::vector<MatrixShape> matrix_shapes(VkPhysicalDevice physical, const std::set<std::string>& extensions) {
    std::vector<MatrixShape> shapes;
    if (!extensions.contains(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME)) return shapes;
    const Abilities can = abilities(physical, extensions.contains(bfloat16_extension));
    if (!can.matrices) return shapes;
    std::uint32_t count = 0;
    check(vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(physical, &count, nullptr),
          "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    VkCooperativeMatrixPropertiesKHR blank{};
    blank.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
    std::vector<VkCooperativeMatrixPropertiesKHR> list(count, blank);
    check(vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(physical, &count, list.data()),
          "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    for (const VkCooperativeMatrixPropertiesKHR& at : list) {
        const std::optional<MatrixElement> element = element_of(at.AType);
        const bool usable = element && (*element == MatrixElement::fp16 ? can.fp16 : can.bf16);
        const bool sums = at.CType == VK_COMPONENT_TYPE_FLOAT32_KHR && at.ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR;
        if (!usable || at.BType != at.AType || !sums || at.scope != VK_SCOPE_SUBGROUP_KHR) continue;
        const MatrixShape shape{at.MSize, at.NSize, at.KSize, *element};
        const auto fits = [](std::uint32_t extent) { return extent == 8 || extent == 16; };  // of a kernel's slices
        if (!fits(shape.m) || !fits(shape.n) || !fits(shape.k)) continue;
        if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
    }
    return shapes;
}

VkPhysicalDeviceCooperativeMatrix2FeaturesNV wanted_matrices2(bool of_workgroups) {
    VkPhysicalDeviceCooperativeMatrix2FeaturesNV features{};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV;
    features.cooperativeMatrixFlexibleDimensions = features.cooperativeMatrixPerElementOperations = VK_TRUE;
    features.cooperativeMatrixReductions = features.cooperativeMatrixConversions = VK_TRUE;
    features.cooperativeMatrixWorkgroupScope = of_workgroups;
    features.cooperativeMatrixTensorAddressing = features.cooperativeMatrixBlockLoads = of_workgroups;
    return features;
}

std::vector<GroupMatrices> workgroup_matrices(VkPhysicalDevice physical, const std::set<std::string>& extensions) {
    std::vector<GroupMatrices> made;
    const Abilities can = abilities(physical, extensions.contains(bfloat16_extension));
    for (const VkCooperativeMatrixFlexibleDimensionsPropertiesNV& at : flexible(physical, extensions, true)) {
        const std::optional<MatrixElement> element = element_of(at.AType);
        const bool usable = element && (*element == MatrixElement::fp16 ? can.fp16 : can.bf16);
        if (usable && at.scope == VK_SCOPE_WORKGROUP_KHR && divide(at, 32))
            made.push_back({at.workgroupInvocations, *element});
    }
    std::ranges::sort(made);
    made.erase(std::ranges::unique(made).begin(), made.end());
    return made;
}

bool flexible_matrices(VkPhysicalDevice physical, const std::set<std::string>& extensions) {
    return abilities(physical, false).fp16 && std::ranges::any_of(flexible(physical, extensions, false), [](auto& at) {
               return element_of(at.AType) == MatrixElement::fp16 && at.scope == VK_SCOPE_SUBGROUP_KHR && divide(at, 8);
           });
}

}  // namespace vkf
