// concat: the weighted sum through W^o, plus the values through a second output map W^s (BeliefFormer 002, appendix C),
//     o_i W^o + v_i W^s. It has as many parameters as belief-star.

#include "models/attention/variant.h"
#include "ops/movement/repeat_heads.h"

namespace vkf {

namespace {

VariantOutput mix(const AttentionContext& at) {
    const std::int64_t heads = at.options.heads, kv_heads = at.options.value_heads();
    return {.main = at.attended(),
            .extra = repeat_heads(at.required_query_values(), kv_heads, heads / kv_heads)};
}

}  // namespace

const AttentionVariant& concat_variant() {
    static const AttentionVariant variant{.name = "concat", .mix = mix};
    return variant;
}

}  // namespace vkf
