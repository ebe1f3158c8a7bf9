// standard: o_i = Σ_j α_ij v_j, the weighted sum of the values (AttentionX 000, eq. 9; BeliefFormer 002, eq. 6-9).

#include "models/attention/variant.h"

namespace vkf {

namespace {

VariantOutput mix(const AttentionContext& at) {
    return {at.attended()};
}

}  // namespace

const AttentionVariant& standard_variant() {
    static const AttentionVariant variant{.name = "standard", .mix = mix};
    return variant;
}

}  // namespace vkf
