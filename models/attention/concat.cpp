// concat: sum and values each through a map of its own, ō_i W^o + v̄_i W^s (002 appendix C; parameters as belief-star).

#include "models/attention/mixer.h"
#include "ops/repeat_heads.h"

namespace vkf {

const Mixer& concat_mixer() {
    static const Mixer mixer{
        .name = "concat", .mix = [](const AttentionContext& at) -> MixerOutput {
            const std::int64_t heads = at.options.heads, kv_heads = at.options.value_heads();
            return {attention(at.q, at.k, at.v, at.options), repeat_heads(at.own_v, kv_heads, heads / kv_heads)};
        }};
    return mixer;
}

}  // namespace vkf
