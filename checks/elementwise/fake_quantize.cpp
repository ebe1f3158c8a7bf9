#include "ops/elementwise/fake_quantize.h"

#include <utility>

#include "checks/op_tables.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/rows/reduce.h"

namespace vkf::checks {
namespace {

OpCase quantized(std::string name, Operand w) {
    w.spread = 0.02;
    return {.name = std::move(name),
            .operands = {std::move(w)},
            .build = [](std::span<const Tensor> x) { return std::vector{fake_quantize_e5m2(x[0])}; },
            .finite_differences = false};  // piecewise constant
}

OpCase of_values(std::string name, Shape shape, std::vector<double> values) {
    OpCase made = quantized(std::move(name), normal(std::move(shape)));
    made.operands[0].values = std::move(values);
    return made;
}

}  // namespace

std::vector<OpCase> fake_quantize_cases() {
    return {
        quantized("one number", normal({1})),
        quantized("odd", normal({7, 13})),
        quantized("rows of a wider matrix", padded({6, 20}, 4)),
        quantized("several workgroups", normal({67, 1003})),
        quantized("a weight", normal({128, 384})),
        of_values("zeros", {6}, {0, 0, 0, 0, 0, 0}),
        // Mean magnitude 1: ties to even in both directions, the smallest numbers, one that rounds up to a power of
        // two.
        of_values("around the mean", {2, 4},
                  {1.125, -1.375, 0x1.8p-17, 0x1p-17, 1.9, -0.5, 3.0999755859375 - 0x1.4p-16, 0}),
        // One of 200000 elements is that many times the mean, and exceeds the range.
        [] {
            std::vector<double> values(200000, 0.0);
            values[17] = -3.0;
            return of_values("saturated", {200000}, std::move(values));
        }(),
    };
}

}  // namespace vkf::checks
