// Cooperative matrices of a physical device; for the folder runtime/vulkan and its tests.
#pragma once

#include <volk.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/matrix_shape.h"
#include "vulkan/device/device_facts.h"

namespace vkf {

/// Feature structure of VK_KHR_shader_bfloat16: Vulkan headers before 1.4.317 lack it.
struct Bfloat16Features {
    VkStructureType sType = static_cast<VkStructureType>(1000141000);
    void* pNext = nullptr;
    VkBool32 type = VK_FALSE;
    VkBool32 dot_product = VK_FALSE;
    VkBool32 cooperative_matrix = VK_FALSE;
};
constexpr const char* bfloat16_extension = "VK_KHR_shader_bfloat16";

/// Features of VK_NV_cooperative_matrix2 that the kernels *_coopmat2* need: for matrices held by workgroups, or by
/// subgroups, which do not use its loads.
VkPhysicalDeviceCooperativeMatrix2FeaturesNV wanted_matrices2(bool of_workgroups);

/// Abilities that decide which listed matrices kernels use. Each string is the reason against a kind; empty: usable.
struct MatrixAbilities {
    std::string refusal;                // against all matrices
    std::string fp16, bf16;             // against factors of these elements
    std::string subgroups, workgroups;  // against flexible extents held by subgroups or workgroups
    std::uint32_t subgroup_size = 0;    // workgroups of a single subgroup are refused
    std::uint32_t most_invocations = 0;
};

/// Queries the device. A non-empty `refusal` is a reason against all its matrices, whatever its features are.
MatrixAbilities matrix_abilities(VkPhysicalDevice physical, const std::set<std::string>& extensions,
                                 std::uint32_t subgroup_size, std::string refusal);

/// Reason why kernels do not use a matrix; empty: they may. They multiply fp16 or bf16 and sum in fp32, by a subgroup
/// with extents of 8 or 16, by a workgroup with any multiples of 32, or by a subgroup in fp16 with any multiples of 8.
std::string refusal(const ListedMatrix& at, const MatrixAbilities& can);

/// All matrices that the driver lists, with `refusal` set. Flexible matrices are refused if no fixed one is usable.
std::vector<ListedMatrix> listed_matrices(VkPhysicalDevice physical, const std::set<std::string>& extensions,
                                          const MatrixAbilities& can);

/// Listed matrices that are not refused: distinct shapes held by subgroups, in the driver's order; workgroups with
/// flexible extents, sorted; and true if subgroups have flexible extents.
std::vector<MatrixShape> matrix_shapes(const std::vector<ListedMatrix>& listed);
std::vector<GroupMatrices> workgroup_matrices(const std::vector<ListedMatrix>& listed);
bool flexible_matrices(const std::vector<ListedMatrix>& listed);

}  // namespace vkf
