// belief-head: the perpendicular component of each head by itself (the second term of BeliefFormer 002, eq. 15),
//     δ_mi = o_mi − (<o_mi, v_mi> / <v_mi, v_mi>) v_mi.

#include "models/attention/variant.h"

namespace vkf {

namespace {

VariantOutput mix(const AttentionContext& at) {
    return {at.project_out_heads()};
}

}  // namespace

const AttentionVariant& belief_head_variant() {
    static const AttentionVariant variant{.name = "belief-head", .mix = mix};
    return variant;
}

}  // namespace vkf
