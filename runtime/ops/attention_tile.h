// How the attention kernels cut their rows into workgroups.
#pragma once

#include <algorithm>
#include <cstdint>

#include "graph/op.h"

namespace vkf {

/// Which of the three kernels: they keep two, three or four matrices of rows in registers.
enum class AttentionPass : std::uint32_t { forward, query_gradient, key_gradient };

struct AttentionTile {
    std::uint32_t group;   // invocations per workgroup, in subgroups that each hold their own rows
    std::uint32_t rows;    // held by a subgroup
    std::uint64_t groups;  // workgroups
};

/// `positions` rows in each of `planes` heads, of width `head_width`. More rows mean fewer loads per multiply-add, but
/// registers that spill, and each unrolled multiply-add costs compile time: 3 s for the widest heads at these bounds.
/// Within them the rows divide the positions as evenly as they can.
inline AttentionTile attention_tile(const DeviceTraits& device, AttentionPass pass, std::int64_t planes,
                                    std::int64_t positions, std::int64_t head_width) {
    const std::int64_t budget = pass == AttentionPass::key_gradient ? 768 : 1024;
    const bool many = device.cpu && device.subgroup_size >= 16 && head_width <= 32;
    const std::int64_t most = std::clamp<std::int64_t>(budget / head_width, 2, many ? 16 : 8);
    const std::int64_t blocks = (positions + most - 1) / most;
    const std::int64_t subgroups = device.cpu ? 1 : std::max<std::int64_t>(1, 128 / device.subgroup_size);
    const std::int64_t parts = planes * blocks;
    return {extent(subgroups * device.subgroup_size), extent((positions + blocks - 1) / blocks),
            static_cast<std::uint64_t>((parts + subgroups - 1) / subgroups)};
}

}  // namespace vkf
