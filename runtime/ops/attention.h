// Attention that never stores its probabilities.
//
// Letters in shapes: B batch, T query positions, S key positions, M heads, N key and value heads, D head width.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace vkf {

struct AttentionOptions {
    std::int64_t heads = 1;      // M query heads
    std::int64_t kv_heads = 0;   // N key and value heads, a divisor of M; 0: M
    bool causal = false;         // query i of T stands at position i + S − T and sees nothing behind it
    bool mask_diagonal = false;  // nor the key at its own position
    float scale = 0.0f;          // of q·k; 0: 1/√D
    float dropout = 0.0f;        // on the probabilities
    Tensor seed = {};            // i32[2], changed by the host each step; needed with dropout
    std::uint32_t salt = 0;
    Tensor length = {};  // i32[1]: only that many of the S keys count; then there is no derivative

    std::int64_t value_heads() const { return kv_heads ? kv_heads : heads; }
    double scale_for(std::int64_t head_width) const;
};

/// softmax(scale · q kᵀ) v per head: q [B, T, M·D], k and v [B, S, N·D] → [B, T, M·D]. D is at most 256.
/// Saves log-sum-exp, [B, M, T]; the T×S matrix is never stored. A query that sees no key gives zeros and zero
/// gradients.
Tensor attention(Tensor q, Tensor k, Tensor v, const AttentionOptions& options);

}  // namespace vkf
