#include "models/layers.h"

namespace vkf {

Tensor linear(const Scope& scope, Tensor x, std::int64_t out, const LinearOptions& options) {
    const Tensor weight = scope.parameter("weight", {x.width(), out}, options.init);
    const Tensor bias = options.bias ? scope.parameter("bias", {out}, Init::zeros()) : Tensor();
    return matmul(x, weight, {.bias = bias, .addend = options.addend});
}

Tensor layer_norm(const Scope& scope, Tensor x, bool bias, float eps) {
    const Tensor weight = scope.parameter("weight", {x.width()}, Init::ones());
    return layer_norm(x, weight, bias ? scope.parameter("bias", {x.width()}, Init::zeros()) : Tensor(), eps);
}

}  // namespace vkf
