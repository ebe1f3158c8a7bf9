#include "ops/elementwise/fake_quantize.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>

#include "op_check.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/rows/reduce.h"

namespace vkf::test {
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

const std::vector<OpCase> fake_quantize_cases{
    quantized("one number", normal({1})),
    quantized("odd", normal({7, 13})),
    quantized("rows of a wider matrix", padded({6, 20}, 4)),
    quantized("several workgroups", normal({67, 1003})),
    quantized("a weight", normal({128, 384})),
    of_values("zeros", {6}, {0, 0, 0, 0, 0, 0}),
    // Mean magnitude 1: ties to even in both directions, the smallest numbers, one that rounds up to a power of two.
    of_values("around the mean", {2, 4},
              {1.125, -1.375, 0x1.8p-17, 0x1p-17, 1.9, -0.5, 3.0999755859375 - 0x1.4p-16, 0}),
    // One of 200000 elements is that many times the mean, and exceeds the range.
    [] {
        std::vector<double> values(200000, 0.0);
        values[17] = -3.0;
        return of_values("saturated", {200000}, std::move(values));
    }(),
};
VKF_OP_TABLE(FakeQuantize, fake_quantize_cases);

TEST(HostFakeQuantize, RoundsToTwoDigits) {
    const std::pair<double, double> expected[] = {
        {1.1, 1.0},    {1.125, 1.0},    {1.2, 1.25},     {1.375, 1.5}, {1.875, 2.0},         {1.9, 2.0},
        {3.3, 3.5},    {-0.7, -0.75},   {1e-5, 0x1p-16}, {0x1p-17, 0}, {0x1.8p-16, 0x1p-15}, {114688, 114688},
        {1e9, 114688}, {-1e9, -114688}, {106496, 98304}, {0, 0}};
    for (const auto& [x, rounded] : expected) EXPECT_EQ(round_e5m2(x), rounded) << x;
    EXPECT_TRUE(std::isnan(round_e5m2(NAN)));
}

TEST(HostFakeQuantize, PassesGradientsStraightThrough) {
    Graph graph;
    const TensorType type{DType::f32, {2, 3}};
    const Tensor w = graph.input("w", type), factors = graph.input("factors", type);
    const Tensor loss = sum_to(mul(fake_quantize_e5m2(w), factors), {});
    graph.output("d_w", gradients(loss, std::array{w})[0]);
    const Array given{{2, 3}, {1, 2, 3, 4, 5, 6}};
    EXPECT_EQ(interpret(graph, {{"w", {{2, 3}, {0.1, -0.2, 0.3, 0.7, 1.1, 0}}}, {"factors", given}}).at("d_w").at,
              given.at);
}

}  // namespace
}  // namespace vkf::test
