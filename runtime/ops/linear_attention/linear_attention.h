// Attention whose weights are products of features: time and memory grow linearly with the length.
//
// Letters in shapes as in ops/attention/attention.h: B batch, T queries, S keys, M heads, N key and value heads, D head
// width of queries and keys, D_V of values.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace vkf {

/// Feature maps φ of queries and keys; a weight is φ(q)ᵀφ(k).
enum class FeatureMap : std::uint8_t {
    elu,     // elu(x) + 1: Katharopoulos et al., arXiv 2006.16236, eq. 7
    relu,    // max(0, x)
    taylor,  // weights 1 + q̂ᵀk̂ with q̂ = q/‖q‖, k̂ = k/‖k‖, 0 for ‖·‖ = 0: Taylor's first order of e^(q̂ᵀk̂)
};

struct LinearAttentionOptions {
    std::int64_t heads = 1;     // M query heads
    std::int64_t kv_heads = 0;  // N key and value heads, a divisor of M; 0: M
    FeatureMap features = FeatureMap::elu;
    bool causal = false;  // query i sees keys j ≤ i + S − T; else all keys
    /// Numbers of queries and keys that count, as in AttentionMask: i32[B], key_lengths also i32[1]; absent: all. They
    /// take the place of T and S in the rule of `causal`.
    Tensor query_lengths = {}, key_lengths = {};
};

/// o_i = Σ_j w_ij v_j / Σ_j w_ij, w_ij = φ(q_i)ᵀφ(k_j), over the keys j that query i sees: q [B, T, M·D], k [B, S,
/// N·D], v [B, S, N·D_V] → [B, T, M·D_V]. D and D_V are at most 256.
///
/// The sums are made as φ(q_i)ᵀ Σ_j φ(k_j) [v_j, 1]ᵀ: the last column is the divisor. If causal, positions are cut into
/// chunks of at most 64: the sums over earlier chunks are a state in fp32, of which one is kept per chunk, and the
/// weights within a chunk are made one by one. Forward and derivative take O((T + S)·D·D_V) operations. Saved are the
/// features of q and k, v with its column of ones, the states, the weights within chunks, [B·M·S, 64], and the sums.
///
/// o_i and its gradients are 0 if query i does not count or sees no key, or if its divisor is 0 (at most 2^-126; 2^-20
/// for `taylor`, whose divisor is rounding alone if all keys are opposite to the query). The other weights are never
/// negative. Throws InputError for operands that do not fit each other or the options.
Tensor linear_attention(Tensor q, Tensor k, Tensor v, const LinearAttentionOptions& options);

struct LinearAttentionStep {
    Tensor o;      // [B, T, M·D_V]
    Tensor state;  // [B, linear_attention_state(…)]
};

/// Causal linear attention, continued: T more positions with queries, keys and values, after those that `state` stands
/// for; none if it is zeros. Returns their o, and the state after them. key_lengths are the numbers of positions that
/// count, also of queries; the state of a row with 0 does not change. `causal` is implied, and query_lengths must be
/// absent.
LinearAttentionStep linear_attention_step(Tensor q, Tensor k, Tensor v, Tensor state,
                                          const LinearAttentionOptions& options);

/// Width of the state of one batch row, which does not depend on the length: N matrices Σ_j φ(k_j) [v_j, 1]ᵀ, whose
/// rows and columns are padded with zeros to multiples of 8.
std::int64_t linear_attention_state(const LinearAttentionOptions& options, std::int64_t head_width,
                                    std::int64_t value_width);

}  // namespace vkf
