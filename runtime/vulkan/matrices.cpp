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
        if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
    }
    return shapes;
}

VkPhysicalDeviceCooperativeMatrix2FeaturesNV wanted_matrices2() {
    VkPhysicalDeviceCooperativeMatrix2FeaturesNV features{};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV;
    features.cooperativeMatrixWorkgroupScope = features.cooperativeMatrixFlexibleDimensions = VK_TRUE;
    features.cooperativeMatrixPerElementOperations = VK_TRUE;
    features.cooperativeMatrixTensorAddressing = features.cooperativeMatrixBlockLoads = VK_TRUE;
    return features;
}

std::vector<std::uint32_t> workgroup_matrices(VkPhysicalDevice physical, const std::set<std::string>& extensions) {
    std::vector<std::uint32_t> sizes;
    const bool listed = extensions.contains(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME) &&
                        extensions.contains(VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME);
    if (!listed || !abilities(physical, false).fp16) return sizes;
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
    constexpr std::uint32_t tile = 128, slice = 64;
    if (!has.cooperativeMatrixWorkgroupScope || !has.cooperativeMatrixFlexibleDimensions ||
        !has.cooperativeMatrixPerElementOperations || !has.cooperativeMatrixTensorAddressing ||
        !has.cooperativeMatrixBlockLoads || limits.cooperativeMatrixFlexibleDimensionsMaxDimension < tile)
        return sizes;

    std::uint32_t count = 0;
    const char* call = "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV";
    check(vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV(physical, &count, nullptr), call);
    VkCooperativeMatrixFlexibleDimensionsPropertiesNV blank{};
    blank.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS_PROPERTIES_NV;
    std::vector<VkCooperativeMatrixFlexibleDimensionsPropertiesNV> list(count, blank);
    check(vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV(physical, &count, list.data()), call);
    for (const VkCooperativeMatrixFlexibleDimensionsPropertiesNV& at : list) {
        const bool factors = at.AType == VK_COMPONENT_TYPE_FLOAT16_KHR && at.BType == at.AType;
        const bool sums = at.CType == VK_COMPONENT_TYPE_FLOAT32_KHR && at.ResultType == at.CType;
        const auto divides = [](std::uint32_t granularity, std::uint32_t extent) {
            return granularity > 0 && extent % granularity == 0;
        };
        const bool fits =
            divides(at.MGranularity, tile) && divides(at.NGranularity, tile) && divides(at.KGranularity, slice);
        if (at.scope == VK_SCOPE_WORKGROUP_KHR && factors && sums && fits && !at.saturatingAccumulation &&
            at.workgroupInvocations <= limits.cooperativeMatrixWorkgroupScopeMaxWorkgroupSize)
            sizes.push_back(at.workgroupInvocations);
    }
    std::ranges::sort(sizes);
    sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
    return sizes;
}

}  // namespace vkf
