#include "ops/elementwise/activation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "ops/elementwise/elementwise.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

constexpr double GELU_CUBIC = 0.044715;
const double GELU_SCALE = std::sqrt(2.0 / std::numbers::pi);

double normal_cdf(double x) {
    return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}
double normal_density(double x) {
    return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}
double sigmoid(double x) {
    return 1.0 / (1.0 + std::exp(-x));
}

}  // namespace

double activation(Activation kind, double x) {
    switch (kind) {
        case Activation::gelu:
            return x * normal_cdf(x);
        case Activation::gelu_tanh:
            return 0.5 * x * (1.0 + std::tanh(GELU_SCALE * (x + GELU_CUBIC * x * x * x)));
        case Activation::relu:
            return x > 0.0 ? x : 0.0;
        case Activation::silu:
            return x * sigmoid(x);
        case Activation::exp:
            return std::exp(x);
        case Activation::tanh:
            return std::tanh(x);
        case Activation::hardswish:
            return x * std::clamp(x + 3.0, 0.0, 6.0) / 6.0;
        case Activation::none:
            break;
    }
    return x;
}

double activation_slope(Activation kind, double x) {
    switch (kind) {
        case Activation::gelu:
            return normal_cdf(x) + x * normal_density(x);
        case Activation::gelu_tanh: {
            const double t = std::tanh(GELU_SCALE * (x + GELU_CUBIC * x * x * x));
            return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * GELU_SCALE * (1.0 + 3.0 * GELU_CUBIC * x * x);
        }
        case Activation::relu:
            return x > 0.0 ? 1.0 : 0.0;
        case Activation::silu:
            return sigmoid(x) * (1.0 + x * sigmoid(-x));
        case Activation::exp:
            return std::exp(x);
        case Activation::tanh:
            return 1.0 - std::tanh(x) * std::tanh(x);
        case Activation::hardswish:
            return x <= -3.0 ? 0.0 : x >= 3.0 ? 1.0 : x / 3.0 + 0.5;
        case Activation::none:
            break;
    }
    return 1.0;
}

namespace {

std::string_view spelled(Activation kind) {
    static constexpr std::array<std::string_view, 8> names{"none", "gelu", "gelu_tanh", "relu",
                                                           "silu", "exp",  "tanh",      "hardswish"};
    return names[static_cast<std::size_t>(kind)];
}

class ActivateOp : public ElementwiseOp {
public:
    explicit ActivateOp(Activation kind)
        : ElementwiseOp({{.kind = ElementStep::Kind::activate, .activation = kind}}), kind_(kind) {}

    std::string_view name() const override { return spelled(kind_); }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32, "wants f32, not ", in[0]);
        return {in[0]};
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return std::vector{activate_backward(at.in[0], at.d_out[0], kind_)};
    }

private:
    Activation kind_;
};

/// d_y · kind'(x). It has no derivative, because no code here differentiates twice.
class ActivateBackwardOp : public ElementwiseOp {
public:
    explicit ActivateBackwardOp(Activation kind)
        : ElementwiseOp({{.kind = ElementStep::Kind::slope, .a = 0, .b = 1, .activation = kind}}),
          name_(std::string(spelled(kind)) + "_backward") {}

    std::string_view name() const override { return name_; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32 && in[0] == in[1], "x is ", in[0], ", the gradient ", in[1]);
        return {in[0]};
    }

private:
    std::string name_;
};

}  // namespace

Tensor activate(Tensor x, Activation kind) {
    if (kind == Activation::none) return x;
    return add_one(x.graph(), ActivateOp(kind), {contiguous(x)});
}

Tensor activate_backward(Tensor x, Tensor d_y, Activation kind) {
    if (kind == Activation::none) return d_y;
    return add_one(x.graph(), ActivateBackwardOp(kind), {contiguous(x), contiguous(d_y)});
}

}  // namespace vkf
