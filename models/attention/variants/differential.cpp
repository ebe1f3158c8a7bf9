// differential: the difference of two maps of attention over the same values, and a norm of each head,
//     o_m = softmax(q¹ k¹ᵀ / √d) v − λ · softmax(q² k²ᵀ / √d) v,   y_m = (1 − λ_init) · RMSNorm(o_m)
//     λ = exp(λ_q1·λ_k1) − exp(λ_q2·λ_k2) + λ_init,   λ_init = 0.8 − 0.6 · exp(−0.3 · layer), layers from 0
// (Ye et al., Differential Transformer, 2024, arXiv 2410.05258, eq 1-3). The halves of a head are its two queries and
// two keys, d = D/2 wide, so v is twice as wide as a key; linear maps are those of standard attention with as many
// heads. Additional parameters: lambda_q1, lambda_k1, lambda_q2, lambda_k2 [d], N(0, 0.1²), and subln.weight [D].

#include <array>
#include <cmath>

#include "base/error.h"
#include "models/attention/variant.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/repeat_heads.h"
#include "ops/movement/view.h"
#include "ops/rows/norm.h"
#include "ops/rows/reduce.h"

namespace vkf {

namespace {

constexpr float norm_eps = 1e-5f;  // as in the authors' code

/// λ, [1].
Tensor lambda(const Scope& scope, std::int64_t width, float lambda_init) {
    const auto drawn = [&](std::string_view name) { return scope.parameter(name, {width}, Init::normal(0.1f)); };
    const auto exponential = [&](std::string_view q, std::string_view k) {
        return activate(row_sum(mul(drawn(q), drawn(k))), Activation::exp);
    };
    const Tensor first = exponential("lambda_q1", "lambda_k1"), second = exponential("lambda_q2", "lambda_k2");
    return add(sub(first, second), fill(scope.graph(), {1}, lambda_init));
}

VariantOutput mix(const AttentionContext& at) {
    const std::int64_t heads = at.options.heads, kv_heads = at.options.value_heads();
    const std::int64_t head_width = at.q.width() / heads, value_width = at.v.width() / kv_heads;
    require(head_width % 2 == 0, "differential attention halves heads, and one is ", head_width,
            " wide: wanted an even width");
    const float lambda_init = 0.8f - 0.6f * std::exp(-0.3f * static_cast<float>(at.scope.layer()));

    // Head 2m is the first half of head m, 2m + 1 the second. Attention's own sharing would give both halves of a query
    // the same half of a shared key, so shared heads are repeated.
    AttentionContext halves = at;
    halves.options.heads = halves.options.kv_heads = 2 * heads;
    const std::int64_t sharers = heads / kv_heads;
    halves.k = repeat_heads(at.k, kv_heads, sharers);
    halves.v = repeat_heads(at.v, kv_heads, 2 * sharers);
    const Tensor o = halves.attended();

    const Shape rows{o.rows() * heads, value_width};
    const auto both = split(reshape(o, {rows[0], 2 * value_width}), std::array{value_width, value_width});
    const Tensor weighted = mul(both[1], lambda(at.scope, head_width / 2, lambda_init));
    const Tensor weight = (at.scope / "subln").parameter("weight", {value_width}, Init::ones());
    const Tensor y = rms_norm(sub(both[0], weighted), scale(weight, 1.0f - lambda_init), norm_eps);
    return {reshape(y, {o.shape()[0], o.shape()[1], heads * value_width})};
}

}  // namespace

const AttentionVariant& differential_variant() {
    static const AttentionVariant variant{.name = "differential", .mix = mix, .maps = 2};
    return variant;
}

}  // namespace vkf
