// gelu, gelu_tanh, relu, silu, exp and their derivatives.

#include <array>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "ops/grid.h"
#include "ops/ops.h"
#include "ops/pairs.h"

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

double value(Activation kind, double x) {
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
        case Activation::none:
            break;
    }
    return x;
}

double slope(Activation kind, double x) {
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
        case Activation::none:
            break;
    }
    return 1.0;
}

std::string_view spelled(Activation kind) {
    static constexpr std::array<std::string_view, 6> names{"none", "gelu", "gelu_tanh", "relu", "silu", "exp"};
    return names[static_cast<std::size_t>(kind)];
}

class ActivateOp : public Op {
public:
    explicit ActivateOp(Activation kind) : kind_(kind) {}

    std::string_view name() const override { return spelled(kind_); }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32, "wants f32, not ", in[0]);
        return {in[0]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        for (std::size_t i = 0; i < out[0].at.size(); ++i) out[0].at[i] = value(kind_, in[0].at[i]);
        return true;
    }

    std::optional<std::vector<Tensor>> vjp(const Vjp& at) const override {
        return std::vector{activate_backward(at.in[0], at.d_out[0], kind_)};
    }

    void lower(Lowering& to) const override {
        const std::int64_t count = to.out[0].elements();
        const Sweep grid = sweep(to.device, count);
        to.dispatch(
            {.kernel = "activation",
             .constants = {{"GROUP", grid.group},
                           {"KIND", static_cast<std::uint32_t>(kind_)},
                           {"PAIR", pair_form(std::array{to.in[0], to.out[0]})}},
             .args = {{"x", to.in[0]}, {"y", to.out[0]}, {"count", extent(count)}, {"per_group", grid.per_group}},
             .groups = grid.groups,
             .flops = 32.0 * static_cast<double>(count),
             .bytes = 8.0 * static_cast<double>(count)});
    }

    bool may_alias(std::size_t, std::size_t) const override { return true; }
    Halves halves(std::span<const Tensor>) const override {
        return {.in = 0b1, .out = 0b1, .rule = Halves::Rule::together};
    }

private:
    Activation kind_;
};

/// The derivative's own derivative is not known: nothing here differentiates twice.
class ActivateBackwardOp : public Op {
public:
    explicit ActivateBackwardOp(Activation kind) : kind_(kind), name_(std::string(spelled(kind)) + "_backward") {}

    std::string_view name() const override { return name_; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        require(in[0].dtype == DType::f32 && in[0] == in[1], "x is ", in[0], ", the gradient ", in[1]);
        return {in[0]};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        for (std::size_t i = 0; i < out[0].at.size(); ++i) out[0].at[i] = in[1].at[i] * slope(kind_, in[0].at[i]);
        return true;
    }

    void lower(Lowering& to) const override {
        const std::int64_t count = to.out[0].elements();
        const Sweep grid = sweep(to.device, count);
        to.dispatch({.kernel = "activation_backward",
                     .constants = {{"GROUP", grid.group},
                                   {"KIND", static_cast<std::uint32_t>(kind_)},
                                   {"PAIR", pair_form(std::array{to.in[0], to.in[1], to.out[0]})}},
                     .args = {{"x", to.in[0]},
                              {"d_y", to.in[1]},
                              {"d_x", to.out[0]},
                              {"count", extent(count)},
                              {"per_group", grid.per_group}},
                     .groups = grid.groups,
                     .flops = 40.0 * static_cast<double>(count),
                     .bytes = 12.0 * static_cast<double>(count)});
    }

    bool may_alias(std::size_t, std::size_t) const override { return true; }
    Halves halves(std::span<const Tensor>) const override {
        return {.in = 0b11, .out = 0b1, .rule = Halves::Rule::together};
    }

private:
    Activation kind_;
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
