#include "models/attention/self_attention.h"

#include "models/attention/attention_taps.h"
#include "models/attention/kind.h"

namespace vkf {

Tensor self_attention(const Scope& scope, Tensor residual, const QueriesKeysValues& in, SelfAttention how) {
    const AttentionKind& kind = how.config.kind();
    Tensor k = in.k, v = in.v;
    how.options.mask.diagonal |= how.config.mask_diagonal;
    if (kind.hide) kind.hide(how.config.kind_options, scope.layer(), how.options.mask);
    if (how.cache && !kind.carries_state) {
        const std::int64_t head_width = k.width() / how.options.value_heads();
        const KeysAndValues all = how.cache->append(scope, {k, v}, head_width, how.options.mask);
        k = all.keys;
        v = all.values;
    }
    AttentionContext at{scope, in.q, k, v, in.v, how.options, how.config, how.cache, how.input, &how.input_map};
    if (kind.prepare) kind.prepare(at);
    const VariantOutput mixed = how.config.variant().mix(at);
    const std::int64_t heads = how.options.heads;
    tap_attention(at, residual, mixed.main, {how.output, how.output_map});
    tap_output_map(scope, mixed.main, heads, residual.width(), {how.output, how.output_map});
    if (mixed.extra)
        tap_output_map(scope, mixed.extra, heads, residual.width(), {second_map(how.output), how.output_map});
    return output_maps(scope, how.output, mixed, residual.width(), how.output_map, residual);
}

}  // namespace vkf
