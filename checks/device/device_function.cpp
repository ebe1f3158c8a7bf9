// Functions that the device computes itself, compared with the precision that Vulkan's specification demands
// ("Precision of Individual Operations").
#include <array>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/random.h"
#include "checks/op_tables.h"
#include "ops/elementwise/policy.h"

namespace vkf::checks {

namespace {

enum class Function : std::uint32_t { exp2, log2, sqrt, inversesqrt, reciprocal };

double value_of(Function function, double x) {
    switch (function) {
        case Function::exp2:
            return std::exp2(x);
        case Function::log2:
            return std::log2(x);
        case Function::sqrt:
            return std::sqrt(x);
        case Function::inversesqrt:
            return 1 / std::sqrt(x);
        case Function::reciprocal:
            return 1 / x;
    }
    return x;
}

/// Distance of fp32 numbers of the size of y.
double ulp(double y) {
    return std::ldexp(1.0, std::max(y == 0 ? -126 : std::ilogb(y), -126) - 23);
}

/// Largest error of f(x) = y. sqrt is 1 / inversesqrt: 2 and 2.5 ulp. Half an ulp more is the rounding of y itself.
double bound_of(Function function, double x, double y) {
    switch (function) {
        case Function::exp2:
            return (3.5 + 2 * std::abs(x)) * ulp(y);
        case Function::log2:
            return x >= 0.5 && x <= 2 ? std::ldexp(1.0, -21) + ulp(y) : 3.5 * ulp(y);
        case Function::sqrt:
            return 5 * ulp(y);
        case Function::inversesqrt:
            return 2.5 * ulp(y);
        case Function::reciprocal:
            return 3 * ulp(y);
    }
    return 0;
}

class DeviceFunctionOp : public Op {
public:
    explicit DeviceFunctionOp(Function function) : function_(function) {}

    std::string_view name() const override { return "device_function"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override { return {in[0]}; }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        for (std::size_t i = 0; i < in[0].at.size(); ++i) out[0].at[i] = value_of(function_, in[0].at[i]);
        return true;
    }

    void lower(Lowering& lowering) const override {
        const Tensor x = lowering.in[0];
        const Sweep grid = sweep(lowering.device, x.elements());
        lowering.dispatch({.kernel = "device_function",
                           .constants = {{"GROUP", grid.group}, {"FUNCTION", static_cast<std::uint32_t>(function_)}},
                           .args = {{"x", x},
                                    {"y", lowering.out[0]},
                                    {"count", checked_u32(x.elements())},
                                    {"per_group", grid.per_group}},
                           .groups = grid.groups,
                           .bytes = 8.0 * static_cast<double>(x.elements())});
    }

private:
    Function function_;
};

/// Numbers 2^e for e from `least` to `most`, or the exponents themselves.
BoundedCase over(const char* name, Function function, double least, double most, bool powers) {
    constexpr std::int64_t count = 4099;
    Operand x = fixed({count});
    Random random(13, name);
    for (std::int64_t i = 0; i < count; ++i) {
        const double e = least + (most - least) * static_cast<double>(random.uniform());
        x.values.push_back(static_cast<double>(static_cast<float>(powers ? std::exp2(e) : e)));
    }
    OpCase c{.name = name, .operands = {std::move(x)}, .build = [function](Inputs in) {
                 return std::vector{add_one(in[0].graph(), DeviceFunctionOp(function), {in[0]})};
             }};
    const auto bounds = [function](const BoundedRun& run) {
        Array y = run.wanted.at("y0");
        for (std::size_t i = 0; i < y.at.size(); ++i) y.at[i] = bound_of(function, run.leaves.at("x0").at[i], y.at[i]);
        return Arrays{{"y0", std::move(y)}};
    };
    return {std::move(c), bounds};
}

}  // namespace

std::vector<BoundedCase> device_function_cases() {
    return {
        over("exp2", Function::exp2, -120, 120, false),
        over("exp2 near 0", Function::exp2, -2, 2, false),
        over("log2", Function::log2, -120, 120, true),
        over("log2 near 1", Function::log2, -1, 1, true),
        over("sqrt", Function::sqrt, -120, 120, true),
        over("inversesqrt", Function::inversesqrt, -120, 120, true),
        over("reciprocal", Function::reciprocal, -120, 120, true),
    };
}

}  // namespace vkf::checks
