// Attention's weights as a tensor, for those who look at them; attention itself does not store them.
#pragma once

#include <cstdint>

#include "ops/attention/attention_mask.h"

namespace vkf {

/// softmax(q kᵀ / √D) of each head: q [B, T, heads·D], k [B, S, heads·D] → [B, heads, T, S]. The mask may have
/// key_lengths, but no query_lengths: rows of queries that do not count have weights without meaning.
Tensor attention_weights(Tensor q, Tensor k, std::int64_t heads, const AttentionMask& mask = {});

}  // namespace vkf
