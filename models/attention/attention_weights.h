// Attention's weights as a tensor, for those who look at them; attention itself does not store them.
#pragma once

#include "ops/attention/attention.h"

namespace vkf {

/// softmax(scale · q kᵀ) of each query head, without dropout: q [B, T, M·D], k [B, S, N·D] → [B, M, T, S]. Rows of
/// queries that do not count (mask.query_lengths) have weights without meaning.
Tensor attention_weights(Tensor q, Tensor k, AttentionOptions options);

}  // namespace vkf
