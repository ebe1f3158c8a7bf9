#include "ops/elementwise/activation.h"

#include <cmath>

#include "checks/op_tables.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf::checks {
namespace {

OpCase activation(std::string name, Activation kind, Operand x) {
    const bool small = x.type.shape.elements() < 1000;
    return {.name = std::move(name),
            .operands = {std::move(x)},
            .build = [kind](Inputs in) { return std::vector{activate(in[0], kind)}; },
            .finite_differences = small};
}

/// Numbers from −range to range, including both ends and 0: covers the tails that normal numbers do not reach.
Operand ramp(std::int64_t count, double range) {
    Operand operand = normal({count});
    for (std::int64_t i = 0; i < count; ++i)
        operand.values.push_back(range * (2.0 * static_cast<double>(i) / static_cast<double>(count - 1) - 1.0));
    return operand;
}

/// kind(x) / x, a probability that must be right to a few ulps of 1 for tiny and huge x.
OpCase over_argument(std::string name, Activation kind) {
    Operand x = fixed({64});  // no gradient: that of the quotient is a difference of equal numbers
    for (int i = 0; i < 64; ++i) x.values.push_back(std::ldexp(i % 2 ? 1.0 : -1.0, -20 + i / 2));
    return {.name = std::move(name),
            .operands = {x},
            .build = [kind](Inputs in) { return std::vector{div(activate(in[0], kind), in[0])}; },
            .finite_differences = false};
}

/// tanh(x) / x from 2^-20 to 1: the relative accuracy near 0, on both sides of the number at which the formula changes.
OpCase tanh_near_zero() {
    Operand x = fixed({81});
    for (int i = 0; i < 81; ++i) x.values.push_back(std::exp2(-0.25 * i) * (i % 2 ? 1.0 : -1.0));
    return {.name = "tanh over its argument",
            .operands = {x},
            .build = [](Inputs in) { return std::vector{div(activate(in[0], Activation::tanh), in[0])}; },
            .finite_differences = false};
}

}  // namespace

std::vector<OpCase> activation_cases() {
    return {
        activation("gelu of one", Activation::gelu, normal({1})),
        activation("gelu", Activation::gelu, normal({7, 19}, 2.0)),
        activation("gelu of many", Activation::gelu, normal({61, 67}, 2.0)),
        activation("gelu of a slice", Activation::gelu, padded({5, 9}, 3)),
        activation("gelu over its range", Activation::gelu, ramp(4001, 12.0)),
        activation("gelu tanh of one", Activation::gelu_tanh, normal({1})),
        activation("gelu tanh", Activation::gelu_tanh, normal({7, 19}, 2.0)),
        activation("gelu tanh over its range", Activation::gelu_tanh, ramp(4001, 12.0)),
        activation("relu", Activation::relu, normal({3, 11})),
        activation("relu of many", Activation::relu, normal({4099})),
        activation("silu of one", Activation::silu, normal({1})),
        activation("silu", Activation::silu, normal({7, 19}, 3.0)),
        activation("silu over its range", Activation::silu, ramp(4001, 40.0)),
        activation("exp of one", Activation::exp, normal({1})),
        activation("exp", Activation::exp, normal({7, 19}, 2.0)),
        activation("tanh of one", Activation::tanh, normal({1})),
        activation("tanh", Activation::tanh, normal({7, 19})),
        activation("tanh over its range", Activation::tanh, ramp(4001, 12.0)),
        activation("tanh of large numbers", Activation::tanh, ramp(64, 1e30)),
        activation("hardswish of one", Activation::hardswish, normal({1})),
        activation("hardswish", Activation::hardswish, normal({7, 19}, 2.0)),
        activation("hardswish over its range, with both ends", Activation::hardswish, ramp(4001, 12.0)),
        activation("hardswish of large numbers", Activation::hardswish, ramp(64, 6e4)),
        over_argument("gelu over its argument", Activation::gelu),
        over_argument("gelu tanh over its argument", Activation::gelu_tanh),
        over_argument("silu over its argument", Activation::silu),
        tanh_near_zero(),
    };
}

}  // namespace vkf::checks
