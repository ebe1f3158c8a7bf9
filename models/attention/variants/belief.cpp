// belief: the component of the row o_i that is perpendicular to v_i, heads concatenated (BeliefFormer 002, eq. 10-14),
//     δ_i = o_i − (<o_i, v_i> / <v_i, v_i>) v_i.

#include "models/attention/variant.h"

namespace vkf {

namespace {

VariantOutput mix(const AttentionContext& at) {
    return {at.project_out_rows()};
}

}  // namespace

const AttentionVariant& belief_variant() {
    static const AttentionVariant variant{.name = "belief", .mix = mix};
    return variant;
}

}  // namespace vkf
