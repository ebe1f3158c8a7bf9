// The layer of self-attention that all families share: from queries, keys and values to the residual stream.
#pragma once

#include <string_view>
#include <vector>

#include "models/attention/mixer.h"
#include "models/image_model.h"
#include "models/language_model.h"
#include "models/layers.h"

namespace vkf {

/// Heads side by side: q [B, T, M·D], k [B, T, N·D], v [B, T, N·D_V].
struct QueriesKeysValues {
    Tensor q, k, v;
};

struct SelfAttention {
    const AttentionConfig& config;
    AttentionOptions options;  // heads, mask, …; config's mask_diagonal and a cache's lengths are added
    std::string_view output;   // the name of the output map; a second one is called `output`_s
    LinearOptions output_map;
    const KeyValueCache* cache = nullptr;           // keys and values of the positions before, to attend to as well
    std::vector<AttentionProbe>* probes = nullptr;  // receives what the weights are made of
};

/// residual + drop(W^o·first + W^s·second), where first and second are what the configuration's mixer makes of q, k and
/// v: [B, T, C]. With a cache, keys and values are appended to states of the graph, cached_keys and cached_values.
Tensor self_attention(const Scope& scope, Tensor residual, const QueriesKeysValues& in, SelfAttention how);

}  // namespace vkf
