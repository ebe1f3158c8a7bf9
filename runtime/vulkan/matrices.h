// Cooperative matrices of a physical device; for this folder only.
#pragma once

#include <volk.h>

#include <set>
#include <string>
#include <vector>

#include "base/matrix_shape.h"

namespace vkf {

/// VK_KHR_shader_bfloat16's features under our own name: headers before 1.4.317 lack them.
struct Bfloat16Features {
    VkStructureType sType = static_cast<VkStructureType>(1000141000);
    void* pNext = nullptr;
    VkBool32 type = VK_FALSE;
    VkBool32 dot_product = VK_FALSE;
    VkBool32 cooperative_matrix = VK_FALSE;
};
constexpr const char* bfloat16_extension = "VK_KHR_shader_bfloat16";

/// What shaders/*_coopmat2*.comp need of VK_NV_cooperative_matrix2: for matrices of workgroups, or of subgroups
/// without its loads.
VkPhysicalDeviceCooperativeMatrix2FeaturesNV wanted_matrices2(bool of_workgroups);

/// The workgroups that can hold together the matrices of those kernels: extents from 32 to 128 and multiples of 32,
/// factors of fp16 or bf16, sums of fp32. Sorted.
std::vector<GroupMatrices> workgroup_matrices(VkPhysicalDevice physical, const std::set<std::string>& extensions);

/// Whether a subgroup can hold as much with factors of fp16, all extents being multiples of 8.
bool flexible_matrices(VkPhysicalDevice physical, const std::set<std::string>& extensions);

/// The shapes that our kernels can use, in the driver's order: factors of fp16 or bf16, sums of fp32, by one subgroup.
std::vector<MatrixShape> matrix_shapes(VkPhysicalDevice physical, const std::set<std::string>& extensions);

}  // namespace vkf
