// Attention that never stores its probabilities.
//
// Letters in shapes: B batch, T query positions, S key positions, M heads, N key and value heads, D head width of
// queries and keys, D_V of values.
#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "ops/attention/attention_mask.h"

namespace vkf {

struct AttentionOptions {
    std::int64_t heads = 1;     // M query heads
    std::int64_t kv_heads = 0;  // N key and value heads, a divisor of M; 0: M
    float scale = 0.0f;         // factor of q·k, ≥ 0; 0: 1/√D
    float dropout = 0.0f;       // rate, on the probabilities
    Tensor seed = {};           // i32[2], changed by the host each step; needed with dropout
    std::uint32_t salt = 0;
    AttentionMask mask = {};

    std::int64_t value_heads() const { return kv_heads ? kv_heads : heads; }
    double scale_for(std::int64_t head_width) const;
};

/// softmax(scale · q kᵀ) v per head: q [B, T, M·D], k [B, S, N·D], v [B, S, N·D_V] → [B, T, M·D_V]. D and D_V are at
/// most 256. Saves log-sum-exp, [B, M, T]; the T×S matrix is never stored, and blocks of it that the mask hides are not
/// computed. A query that sees no key gives zeros and zero gradients.
Tensor attention(Tensor q, Tensor k, Tensor v, const AttentionOptions& options);

}  // namespace vkf
