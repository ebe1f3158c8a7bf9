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
