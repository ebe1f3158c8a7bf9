#include "models/self_attention.h"

#include <string_view>

#include "ops/kv_cache.h"

namespace vkf {

namespace {

/// Where a layer's keys or values of all positions are kept: [B, capacity, C].
Tensor kept(const Scope& scope, std::string_view name, Tensor rows, const KeyValueCache& cache, Format format) {
    const TensorType type{DType::f32, {rows.shape()[0], cache.capacity, rows.width()}};
    return scope.graph().state(cache.state_name(scope.path(), name), type, format);
}

}  // namespace

Tensor self_attention(const Scope& scope, Tensor residual, const QueriesKeysValues& in, SelfAttention how) {
    Tensor k = in.k, v = in.v;
    how.options.mask.diagonal |= how.config.mask_diagonal;
    if (how.cache) {
        const Format format = how.cache->format_for(in.k.width() / how.options.value_heads());
        const KeysAndValues whole{kept(scope, CACHED_KEYS, k, *how.cache, format),
                                  kept(scope, CACHED_VALUES, v, *how.cache, format)};
        const KeysAndValues all = kv_cache_append(whole, {k, v}, how.cache->lengths);
        k = all.keys;
        v = all.values;
        how.options.mask.key_lengths = how.cache->lengths;
    }
    if (how.probes) how.probes->push_back({in.q, k, how.options});
    const MixerOutput mixed = how.config.mixer().mix({scope, in.q, k, v, in.v, how.options, how.config});
    return output_maps(scope, how.output, mixed, residual.width(), how.output_map, residual);
}

}  // namespace vkf
