#include "models/layers.h"

#include <cmath>

#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"
#include "ops/rows/norm.h"

namespace vkf {

namespace {

/// residual + drop(W^o·main + W^s·extra), each map in a scope of its own.
Tensor add_maps(const Scope& scope, const Scope& scope_s, const VariantOutput& mixed, std::int64_t out,
                LinearOptions options, Tensor residual) {
    const Tensor kept = scope.drop_path(residual.shape());
    const bool fused = scope.dropout_state().dropout == 0.0f;  // else dropout is between product and sum
    if (fused) {
        options.addend = residual;
        options.row_scale = kept;
    }
    if (mixed.extra) {
        LinearOptions extra = options;
        extra.bias = false;
        options.addend = linear(scope_s, mixed.extra, out, extra);
    }
    const Tensor y = linear(scope, mixed.main, out, options);
    if (fused) return y;
    const Tensor branch = scope.drop(y);
    return add(residual, kept ? mul(branch, kept) : branch);
}

/// The addend plus, if the map has an adapter, the adapter's output (alpha / rank) · B (A x).
Tensor add_adapter(const Scope& scope, Tensor x, std::int64_t out, const LinearOptions& options) {
    const LoraConfig* lora = scope.adapter();
    if (!lora) return options.addend;
    const float bound = 1.0f / std::sqrt(static_cast<float>(x.width()));
    const Tensor a = scope.adapter_parameter("lora_A.weight", {lora->rank, x.width()}, Init::uniform(bound));
    const Tensor b = scope.adapter_parameter("lora_B.weight", {out, lora->rank}, Init::zeros());
    return matmul(matmul(x, a, {.transpose_b = true}), b,
                  {.transpose_b = true,
                   .alpha = lora->scale() * options.factor,
                   .addend = options.addend,
                   .row_scale = options.row_scale});
}

}  // namespace

Tensor linear_weight(const Scope& scope, std::int64_t in, std::int64_t out, const LinearOptions& options) {
    const Shape matrix = options.out_in ? Shape{out, in} : Shape{in, out};
    return reshape(
        scope.linear_weight(options.weight_shape.value_or(matrix), options.init, options.out_in, !options.weight_as),
        matrix);
}

Tensor linear(const Scope& scope, Tensor x, std::int64_t out, const LinearOptions& options) {
    const Tensor stored = linear_weight(scope, x.width(), out, options);
    const Tensor bias = options.bias ? scope.parameter("bias", {out}, options.bias_init) : Tensor();
    const Tensor used = options.weight_as ? options.weight_as(stored) : stored;
    const Tensor weight = options.factor == 1.0f ? used : scale(used, options.factor);
    return matmul(x, weight,
                  {.transpose_b = options.out_in,
                   .bias = bias,
                   .addend = add_adapter(scope, x, out, options),
                   .row_scale = options.row_scale});
}

Tensor add_linear(const Scope& scope, Tensor residual, Tensor x, LinearOptions options) {
    return add_maps(scope, scope, {x}, residual.width(), options, residual);
}

std::string second_map(std::string_view name) {
    return std::string(name) + "_s";
}

Tensor output_maps(const Scope& scope, std::string_view name, const VariantOutput& mixed, std::int64_t out,
                   LinearOptions options, Tensor residual) {
    return add_maps(scope / name, scope / second_map(name), mixed, out, options, residual);
}

Tensor layer_norm(const Scope& scope, Tensor x, bool bias, float eps) {
    const Tensor weight = scope.parameter("weight", {x.width()}, Init::ones());
    return layer_norm(x, weight, bias ? scope.parameter("bias", {x.width()}, Init::zeros()) : Tensor(), eps);
}

Tensor rms_norm(const Scope& scope, Tensor x, float eps) {
    return rms_norm(x, scope.parameter("weight", {x.width()}, Init::ones()), eps);
}

Tensor stack(const Scope& scope, std::int64_t blocks, Tensor x,
             const std::function<Tensor(const Scope& block, Tensor x)>& block) {
    for (std::int64_t i = 0; i < blocks; ++i) {
        const std::size_t first = scope.graph().nodes().size();
        x = block(scope.block(i, blocks), x);
        scope.graph().mark_region(first);
    }
    return x;
}

}  // namespace vkf
