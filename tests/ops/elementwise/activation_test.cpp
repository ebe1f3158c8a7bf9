#include <cmath>

#include "base/error.h"
#include "op_check.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf::test {
namespace {

// x·relu6(x + 3)/6 and its gradient by PyTorch, in float64.
TEST(HostActivation, HardswishEqualsPyTorchs) {
    struct Point {
        double x, value, slope;
    };
    for (const Point& p : std::vector<Point>{{-4, 0, 0},
                                             {-3, 0, 0},
                                             {-1.5, -0.375, 0},
                                             {-0.5, -0.20833333333333334, 0.33333333333333337},
                                             {0, 0, 0.5},
                                             {1, 0.66666666666666663, 0.83333333333333326},
                                             {3, 3, 1},
                                             {5, 5, 1}}) {
        EXPECT_NEAR(activation(Activation::hardswish, p.x), p.value, 1e-15) << p.x;
        EXPECT_NEAR(activation_slope(Activation::hardswish, p.x), p.slope, 1e-15) << p.x;
    }
}

TEST(HostActivation, OfIntegersIsRefused) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::i32, {3}});
    EXPECT_THROW(activate(x, Activation::gelu), InputError);
}

TEST(HostActivation, NoneIsNoNode) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {3}});
    EXPECT_EQ(activate(x, Activation::none), x);
    EXPECT_EQ(activate_backward(x, x, Activation::none), x);
}

}  // namespace
}  // namespace vkf::test
