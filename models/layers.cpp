#include "models/layers.h"

#include "ops/arithmetic.h"
#include "ops/matmul.h"
#include "ops/norm.h"
#include "ops/view.h"

namespace vkf {

Tensor linear(const Scope& scope, Tensor x, std::int64_t out, const LinearOptions& options) {
    const Shape matrix = options.out_in ? Shape{out, x.width()} : Shape{x.width(), out};
    const Tensor weight = scope.parameter("weight", options.weight_shape.value_or(matrix), options.init);
    const Tensor bias = options.bias ? scope.parameter("bias", {out}, options.bias_init) : Tensor();
    return matmul(x, reshape(weight, matrix), {.transpose_b = options.out_in, .bias = bias, .addend = options.addend});
}

Tensor add_linear(const Scope& scope, Tensor residual, Tensor x, LinearOptions options) {
    if (!scope.drops()) options.addend = residual;
    const Tensor y = linear(scope, x, residual.width(), options);
    return scope.drops() ? add(residual, scope.drop_path(scope.drop(y))) : y;
}

Tensor output_maps(const Scope& scope, std::string_view name, const Signals& signals, std::int64_t out,
                   LinearOptions options, Tensor residual) {
    if (!scope.drops()) options.addend = residual;
    if (signals.second) {
        LinearOptions second = options;
        second.bias = false;
        options.addend = linear(scope / (std::string(name) + "_s"), signals.second, out, second);
    }
    const Scope first = scope / name;
    const Tensor y = linear(first, signals.first, out, options);
    return scope.drops() ? add(residual, first.drop_path(first.drop(y))) : y;
}

Tensor layer_norm(const Scope& scope, Tensor x, bool bias, float eps) {
    const Tensor weight = scope.parameter("weight", {x.width()}, Init::ones());
    return layer_norm(x, weight, bias ? scope.parameter("bias", {x.width()}, Init::zeros()) : Tensor(), eps);
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
