// belief-star: belief through W^o, plus belief-head through a second output map W^s (BeliefFormer 002, eq. 15-17),
//     δ_i W^o + δ^s_i W^s.

#include "models/attention/variant.h"

namespace vkf {

namespace {

VariantOutput mix(const AttentionContext& at) {
    const Projections projections = at.project_out_both();
    return {.main = projections.rows, .extra = projections.heads};
}

}  // namespace

const AttentionVariant& belief_star_variant() {
    static const AttentionVariant variant{.name = "belief-star", .mix = mix};
    return variant;
}

}  // namespace vkf
