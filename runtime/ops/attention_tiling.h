// Which attention kernels run, and how they cut their rows into workgroups.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/op.h"

namespace vkf {

/// Which of the three kernels: they keep two, three or four matrices of rows in registers.
enum class AttentionPass : std::uint32_t { forward, query_gradient, key_gradient };

/// What is known of it, from the queries' side; heads are those of queries, gqa_group of which read one key head.
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

/// The kernel implementations that can compute it, first the one that a model of the device prefers. All passes of a
/// derivative take one.
///   lanes    a subgroup's registers, no shared memory; made for CPUs          shaders/attention*.comp
///   tile     shared memory, for all GPUs                                      shaders/attention_tile*.comp
///   coopmat  its cooperative matrices, operands rounded to 16 bits            shaders/attention_coopmat*.comp
///   coopmat2 a workgroup's, by its rows; or a subgroup's in any extents, for tests    shaders/attention_coopmat2*.comp
std::vector<std::string> attention_implementations(const DeviceTraits& device, const AttentionSize& size);

/// Of the pass's own rows, which are keys in the key gradient's.
AttentionTile attention_tile(const DeviceTraits& device, std::string_view implementation, AttentionPass pass,
                             const AttentionSize& size);

}  // namespace vkf
