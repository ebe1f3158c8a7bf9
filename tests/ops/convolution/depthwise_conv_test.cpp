#include "ops/convolution/depthwise_conv.h"

#include "base/error.h"
#include "op_check.h"
#include "ops/movement/view.h"

namespace vkf::test {
namespace {

// Numbers by torch.nn.functional.conv2d(x, weight, bias, padding=1, groups=2) in float64, of a 2×3 image.
TEST(HostDepthwiseConvolution, EqualsPyTorchs) {
    const std::vector<double> weight{1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 0, 2, 3, 1, 0, 0, -2, 1};
    for (const std::int64_t leading : {0, 1}) {
        Graph graph;
        const TokenGrid grid{.height = 2, .width = 3, .leading = leading};
        const Tensor x = graph.input("x", {DType::f32, {1, grid.tokens(), 2}});
        const Tensor y = depthwise_conv(x, graph.input("weight", {DType::f32, {2, 1, 3, 3}}),
                                        graph.input("bias", {DType::f32, {2}}), grid);
        graph.output("y", y);
        Arrays leaves{{"weight", {{2, 1, 3, 3}, weight}}, {"bias", {{2}, {10, -20}}}};
        Array& pixels = leaves["x"] = {{1, grid.tokens(), 2}, {}};
        for (std::int64_t i = 0; i < 2 * leading; ++i) pixels.at.push_back(1e9);  // not read
        for (int i = 1; i <= 12; ++i) pixels.at.push_back(i);
        std::vector<double> wanted(static_cast<std::size_t>(2 * leading));
        for (const double each : {170, -24, 279, -18, 198, -26, 110, -4, 171, 24, 114, 18}) wanted.push_back(each);
        EXPECT_EQ(interpret(graph, leaves).at("y").at, wanted) << leading;
    }
}

TEST(HostDepthwiseConvolution, RefusesShapesThatContradictEachOther) {
    Graph graph;
    auto input = [&, count = 0](Shape shape) mutable {
        return graph.input(text("x", count++), {DType::f32, std::move(shape)});
    };
    const Tensor x = input({2, 6, 4});
    const TokenGrid grid{.height = 2, .width = 3};
    const auto refuses = [&](const Tensor& y, const Tensor& weight, const Tensor& bias, const TokenGrid& of) {
        EXPECT_THROW(depthwise_conv(y, weight, bias, of), InputError);
    };
    refuses(x, input({4, 1, 2, 2}), {}, grid);                       // even
    refuses(x, input({4, 1, 3, 5}), {}, grid);                       // not square
    refuses(x, input({4, 2, 3, 3}), {}, grid);                       // not depthwise
    refuses(x, input({4, 3, 3}), {}, grid);                          // without the axis of 1
    refuses(x, input({5, 1, 3, 3}), {}, grid);                       // other channels
    refuses(x, input({4, 1, 3, 3}), input({5}), grid);               // other channels of the bias
    refuses(x, input({4, 1, 3, 3}), {}, {.height = 3, .width = 3});  // more pixels than tokens
    refuses(x, input({4, 1, 3, 3}), {}, {.height = 2, .width = 3, .leading = 1});
    refuses(input({6, 4}), input({4, 1, 3, 3}), {}, grid);  // no batch
    refuses(x, input({4, 1, 3, 3}), {}, {.height = -2, .width = -3});
}

}  // namespace
}  // namespace vkf::test
