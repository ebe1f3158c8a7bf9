// Size of kernels' subgroups, and number of registers per invocation; for the folder runtime/vulkan and its tests.
#pragma once

#include <cstdint>

namespace vkf {

/// Limits of subgroups that a device reports.
struct SubgroupLimits {
    std::uint32_t vendor = 0;    // PCI number
    std::uint32_t reported = 0;  // subgroupSize: used by kernels that require no size
    std::uint32_t least = 0, most = 0;
    bool full = false;        // computeFullSubgroups
    bool requirable = false;  // kernels may require a size
};

struct Subgroups {
    std::uint32_t size = 0;
    bool known = false;     // every subgroup is full and has this size, as cooperative matrices need
    bool required = false;  // kernels must require the size
    std::uint32_t registers = 256;  // of 32 bits, per invocation
};

/// Subgroup size for our kernels: the reported one, but on Intel's GPUs the smallest: 16 on Xe2, 8 on older ones. An
/// Intel subgroup of any size has 128 registers, each as wide as the smallest size: an invocation has 128 words at the
/// smallest size and 32 at four times that size, and our tiles need about 100. Mesa 26.1.6's compiler for Battlemage
/// (bmg) and Alchemist (dg2), instructions and registers spilled/filled:
///
///     kernel                  bmg 32          bmg 16          dg2 32           dg2 16          dg2 8
///     matmul_tile 128 NN      10297, 586/850  2992, 87/97     29992, 1412/3953 10299, 588/936  3093, 89/97
///     matmul_tile 64 NN       1238, 7/20      981, 0          4221, 114/303    1264, 5/16      1096, 0
///     matmul_coopmat 128 NN   9013, 428/500   4518, 191/162   30045, 1020/2632 9267, 430/499   6763, 269/353
///     attention_tile, D = 64  5596, 203/316   2373, 0         15489, 766/1177  4590, 135/211   2676, 0
///
/// The size is also known if a device has only one size but kernels cannot require it (NVK).
Subgroups choose_subgroups(const SubgroupLimits& limits);

}  // namespace vkf
