#include "models/attention/self_attention.h"

namespace vkf {

Tensor self_attention(const Scope& scope, Tensor residual, const QueriesKeysValues& in, SelfAttention how) {
    Tensor k = in.k, v = in.v;
    how.options.mask.diagonal |= how.config.mask_diagonal;
    if (how.cache) {
        const KeysAndValues all = how.cache->append(scope, {k, v}, k.width() / how.options.value_heads());
        k = all.keys;
        v = all.values;
        how.options.mask.key_lengths = how.cache->lengths;
    }
    if (how.probes) how.probes->push_back({in.q, k, how.options});
    const VariantOutput mixed = how.config.variant().mix({scope, in.q, k, v, in.v, how.options, how.config});
    return output_maps(scope, how.output, mixed, residual.width(), how.output_map, residual);
}

}  // namespace vkf
