#include "models/self_attention.h"

#include <string>

#include "ops/kv_cache.h"

namespace vkf {

namespace {

/// All rows so far, this call's among them: [B, capacity, C].
Tensor cached(const Scope& scope, const char* name, Tensor fresh, const KeyValueCache& cache, Format format) {
    const TensorType type{DType::f32, {fresh.shape()[0], cache.capacity, fresh.width()}};
    return kv_cache_append(scope.graph().state(scope.path() + "." + name, type, format), fresh, cache.length);
}

}  // namespace

Tensor self_attention(const Scope& scope, Tensor residual, const QueriesKeysValues& in, SelfAttention how) {
    Tensor k = in.k, v = in.v;
    how.options.mask.diagonal |= how.config.mask_diagonal;
    if (how.cache) {
        const Format format = how.cache->format_for(in.k.width() / how.options.value_heads());
        k = cached(scope, "cached_keys", k, *how.cache, format);
        v = cached(scope, "cached_values", v, *how.cache, format);
        how.options.mask.key_lengths = how.cache->length;
    }
    if (how.probes) how.probes->push_back({in.q, k, how.options});
    const MixerOutput mixed = how.config.mixer().mix({scope, in.q, k, v, in.v, how.options, how.config});
    return output_maps(scope, how.output, mixed, residual.width(), how.output_map, residual);
}

}  // namespace vkf
