// Attention of recurrent models: one map of weights, by one of several scores of a state s and an encoder's output h.
//
//     dot       sᵀ h                     (Luong et al., arXiv 1508.04025)
//     general   sᵀ W h                   (Luong et al.)
//     low_rank  (U s)ᵀ (V h)
//     additive  vᵀ tanh(W_1 h + W_2 s)   (Bahdanau et al., arXiv 1409.0473; W_2 has a bias)
//
// Parameters have OpenNMT's names: linear_in (W), linear_query (U, W_2), linear_context (V, W_1) and v.
#pragma once

#include <cstdint>

#include "models/scope.h"
#include "ops/movement/kv_cache.h"

namespace vkf {

enum class AttentionScore : std::uint8_t { dot, general, low_rank, additive };

struct ScoredAttention {
    AttentionScore score;
    std::int64_t rank;  // rows of U and V, or of W_1 and W_2
};

/// The factor of the score that depends on h alone, [B, S, …], and h itself.
KeysAndValues keys_and_values(const Scope& scope, const ScoredAttention& attention, Tensor h);

struct Attended {
    Tensor context;  // [R, T, C]
    Tensor weights;  // [R, T, S]
};

/// Weights softmax_j(score(s_i, h_j)) over the positions j < key_lengths[b] of row b, and the context Σ_j w_ij h_j, for
/// states s [R, T, C]. R is a multiple of the B of keys and values; rows b·R/B … belong to row b.
Attended attend(const Scope& scope, const ScoredAttention& attention, Tensor s, const KeysAndValues& memory,
                Tensor key_lengths);

}  // namespace vkf
