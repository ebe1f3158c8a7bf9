// The attention family: one shared core, softmax(QKᵀ)V, and variants in what is made of its result and of the values at
// the queries' own positions before the output map.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/scope.h"
#include "ops/attention.h"
#include "ops/discrepancy.h"

namespace vkf {

/// The optional "attention" object of config.json; absent means standard.
struct AttentionConfig {
    std::string variant = "standard";
    float gamma = 1.0f;  // of attentionx
    GammaOn gamma_on = GammaOn::sum;
    bool mask_diagonal = false;

    bool operator==(const AttentionConfig&) const = default;
};

/// What a variant works on: heads side by side, M of queries, options.value_heads() of keys and values.
struct AttentionContext {
    Tensor q;      // [B, T, M·D]
    Tensor k, v;   // [B, S, N·D], [B, S, N·D_V]: all that is attended to, a cache of keys and values for instance
    Tensor own_v;  // [B, T, N·D_V], the values at the queries' own positions
    AttentionOptions options;
    const AttentionConfig& config;
};

/// What a variant feeds to the output map W^o and, if it has one, to the second map W^s (no bias, same shape).
struct Signals {
    Tensor first;
    Tensor second = {};
};

/// One line of variants.def.
struct Variant {
    std::string_view name;
    Signals (*apply)(const AttentionContext&);
    bool two_maps;
};

/// All variants, in the order of variants.def.
std::span<const Variant> variants();
/// Throws InputError listing the known names.
const Variant& variant_named(std::string_view name);

}  // namespace vkf
