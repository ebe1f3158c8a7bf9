// How large kernels' subgroups are, and how many registers their invocations have; for this folder and its tests.
#pragma once

#include <cstdint>

namespace vkf {

/// What a device says of its subgroups.
struct SubgroupLimits {
    std::uint32_t vendor = 0;    // as PCI numbers it
    std::uint32_t reported = 0;  // subgroupSize: what kernels get that ask for nothing
    std::uint32_t least = 0, most = 0;
    bool full = false;        // computeFullSubgroups
    bool requirable = false;  // kernels may require a size
};

struct Subgroups {
    std::uint32_t size = 0;
    bool known = false;     // every subgroup is whole and has that size, as cooperative matrices want
    bool required = false;  // and kernels must ask for it
    std::uint32_t registers = 256;  // of 32 bits, for one invocation
};

/// The size that suits our kernels. It is the reported one, but on Intel's GPUs the least: 16 on Xe2, 8 before. There
/// a subgroup has 128 registers as wide as its least size, whatever its size: an invocation has 128 words at the least
/// and 32 where four share a lane, while our tiles take about 100. Mesa 26.1.6's compiler for Battlemage (bmg) and
/// Alchemist (dg2), instructions and registers spilled/filled:
///
///     kernel                  bmg 32          bmg 16          dg2 32           dg2 16          dg2 8
///     matmul_tile 128 NN      10297, 586/850  2992, 87/97     29992, 1412/3953 10299, 588/936  3093, 89/97
///     matmul_tile 64 NN       1238, 7/20      981, 0          4221, 114/303    1264, 5/16      1096, 0
///     matmul_coopmat 128 NN   9013, 428/500   4518, 191/162   30045, 1020/2632 9267, 430/499   6763, 269/353
///     attention_tile, D = 64  5596, 203/316   2373, 0         15489, 766/1177  4590, 135/211   2676, 0
///
/// A size is also known where a device has but one, and lets nobody require it (NVK).
Subgroups choose_subgroups(const SubgroupLimits& limits);

}  // namespace vkf
