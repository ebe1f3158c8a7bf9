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

}  // namespace vkf
