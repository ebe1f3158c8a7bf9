// Choice of attention kernels, and the cut of their rows into workgroups.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/op.h"

namespace vkf {

/// The three passes. Their kernels keep two, three or four matrices of rows in registers.
enum class AttentionPass : std::uint32_t { forward, query_gradient, key_gradient };

/// Size of an attention, from the queries' side: batch_heads counts query heads, gqa_group of which read one key head.
struct AttentionSize {
    std::int64_t batch_heads, q_len, kv_len, head_width;
    std::int64_t value_width = head_width;
    std::int64_t gqa_group = 1;
};

struct AttentionTile {
    std::string kernel;
    std::vector<std::pair<std::string, ConstantValue>> constants;
    std::uint64_t groups;  // workgroups
};

/// Names of the implementations that can compute attention of this size; the first is the choice of a model of the
/// device. All passes of a derivative use one implementation. Kernels are in shaders/attention and its folder coopmat.
///   subgroup       a subgroup's registers, no shared memory; made for CPUs            attention*.comp
///   tile           shared memory, for all GPUs                                        attention_tile*.comp
///   coopmat        a subgroup's cooperative matrices, operands rounded to 16 bits     attention_coopmat*.comp
///   coopmat2 ROWS  a workgroup's; or, for tests, a subgroup's of any extents          attention_coopmat2*.comp
std::vector<std::string> attention_implementations(const DeviceTraits& device, const AttentionSize& size);

/// Kernel of a pass and the cut of its rows, which are queries, or keys in the key gradient.
AttentionTile attention_tile(const DeviceTraits& device, std::string_view implementation, AttentionPass pass,
                             const AttentionSize& size);

/// Heads that an invocation of shaders/attention/rope.comp rotates for each angle that it loads: on a CPU as many as
/// leave no lane idle.
std::int64_t heads_abreast(const DeviceTraits& device, std::uint32_t group, std::int64_t pairs, std::int64_t heads);

}  // namespace vkf
