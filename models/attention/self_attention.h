// The layer of self-attention that all families share: from queries, keys and values to the residual stream.
#pragma once

#include <string_view>

#include "models/attention/key_value_cache.h"
#include "models/attention/variant.h"
#include "models/layers.h"

namespace vkf {

struct SelfAttention {
    const AttentionConfig& config;
    AttentionOptions options;  // heads, mask, …; config's mask and a cache's lengths are added
    std::string_view output;   // the name of the output map; a second one is called `output`_s
    LinearOptions output_map;
    KeyValueCache* cache = nullptr;  // keys and values of earlier positions, also attended to
    Tensor input = {};               // [B, T, C], of which q, k and v are maps, for kinds that make others; not causal
    LinearOptions input_map = {};    // how they are
};

/// residual + drop(W^o·main + W^s·extra), [B, T, C], where main and extra are the outputs of the configuration's
/// variant. With a cache, keys and values are appended to those of earlier positions, and all are attended to. Offers
/// the tensors of attention_taps.h to taps.
Tensor self_attention(const Scope& scope, Tensor residual, const QueriesKeysValues& in, SelfAttention how);

}  // namespace vkf
