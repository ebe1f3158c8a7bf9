// Cooperative matrices of a physical device; for this folder and its tests.
#pragma once

#include <volk.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/matrix_shape.h"
#include "vulkan/device_facts.h"

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

/// What decides which of the listed matrices kernels use. Each `refusal` says what is missing; empty: nothing is.
struct MatrixAbilities {
    std::string refusal;                // of all matrices
    std::string fp16, bf16;             // of factors of these
    std::string subgroups, workgroups;  // of flexible extents, by who holds them
    std::uint32_t subgroup_size = 0;    // a workgroup of one subgroup is none
    std::uint32_t most_invocations = 0;
};

/// Asks the device. `refusal` is why kernels use none of its matrices, whatever its features are.
MatrixAbilities matrix_abilities(VkPhysicalDevice physical, const std::set<std::string>& extensions,
                                 std::uint32_t subgroup_size, std::string refusal);

/// Why kernels do not use it; empty: they may. They multiply fp16 or bf16 and sum in fp32, by a subgroup with extents
/// of 8 or 16, by a workgroup with any multiples of 32, or by a subgroup of fp16 with any multiples of 8.
std::string refusal(const ListedMatrix& at, const MatrixAbilities& can);

/// All that the driver lists, with our reasons. Flexible ones are refused where kernels may use none of the others.
std::vector<ListedMatrix> listed_matrices(VkPhysicalDevice physical, const std::set<std::string>& extensions,
                                          const MatrixAbilities& can);

/// Of the listed ones that are not refused: shapes of subgroups, each once in the driver's order; workgroups with
/// flexible extents, sorted; and whether subgroups have such.
std::vector<MatrixShape> matrix_shapes(const std::vector<ListedMatrix>& listed);
std::vector<GroupMatrices> workgroup_matrices(const std::vector<ListedMatrix>& listed);
bool flexible_matrices(const std::vector<ListedMatrix>& listed);

}  // namespace vkf
