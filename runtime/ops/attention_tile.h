// Which attention kernels run, and how they cut their rows into workgroups.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/op.h"

namespace vkf {

/// Which of the three kernels: they keep two, three or four matrices of rows in registers.
enum class AttentionPass : std::uint32_t { forward, query_gradient, key_gradient };

/// What is known of one of them: `rows` positions in each of `planes` heads, which each meet `others` of the other
/// side.
struct AttentionSize {
    std::int64_t planes, rows, others, head_width;
};

struct AttentionTile {
    std::string kernel;
    std::vector<std::pair<std::string, ConstantValue>> constants;
    std::uint64_t groups;  // workgroups
};

AttentionTile attention_tile(const DeviceTraits& device, AttentionPass pass, const AttentionSize& size);

}  // namespace vkf
