// The attention family: one shared core, softmax(QKᵀ)V, and variants in what is made of its result and the values
// before the output map.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/scope.h"
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

/// What a variant works on: o = softmax(QKᵀ)V and the values at the queries' own positions, heads side by side.
struct Heads {
    Tensor o;                   // [B, T, M·D]
    Tensor v;                   // [B, T, N·D], N divides M
    std::int64_t count = 1;     // M
    std::int64_t kv_count = 1;  // N
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
    Signals (*apply)(const Heads&);
    bool two_maps;
};

/// All variants, in the order of variants.def.
std::span<const Variant> variants();
/// Throws InputError listing the known names.
const Variant& variant_named(std::string_view name);

}  // namespace vkf
