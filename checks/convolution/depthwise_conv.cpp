#include "ops/convolution/depthwise_conv.h"

#include "checks/op_tables.h"
#include "ops/movement/view.h"

namespace vkf::checks {
namespace {

Operand tokens(std::int64_t batch, const TokenGrid& grid, std::int64_t channels) {
    return normal({batch, grid.tokens(), channels});
}

/// Numbers that the derivative is compared with need few elements.
OpCase conv(std::string name, Operand x, std::int64_t side, const TokenGrid& grid, bool bias = false) {
    const std::int64_t channels = x.type.shape.width();
    OpCase made{
        .name = std::move(name),
        .operands = {std::move(x), normal({channels, 1, side, side})},
        .build = [=](Inputs in) { return std::vector{depthwise_conv(in[0], in[1], bias ? in[2] : Tensor(), grid)}; }};
    if (bias) made.operands.push_back(normal({channels}));
    made.finite_differences = made.operands[0].type.shape.elements() < 1000;
    return made;
}

constexpr TokenGrid one{1, 1}, with_class{3, 5, 1};

}  // namespace

std::vector<OpCase> depthwise_conv_cases() {
    return {
        conv("one pixel", tokens(1, one, 1), 1, one),
        conv("one pixel under a larger kernel", tokens(2, one, 3), 7, one, true),
        conv("side 1", tokens(2, {4, 3}, 5), 1, {4, 3}, true),
        conv("side 3", tokens(2, {4, 3}, 6), 3, {4, 3}),
        conv("side 3 of odd channels", tokens(2, {3, 4}, 7), 3, {3, 4}, true),
        conv("side 5", tokens(1, {5, 2}, 4), 5, {5, 2}, true),
        conv("side 7 over a small image", tokens(2, {2, 3}, 4), 7, {2, 3}, true),
        conv("a row", tokens(2, {1, 19}, 2), 3, {1, 19}),
        conv("a column", tokens(2, {19, 1}, 2), 3, {19, 1}),
        conv("after a class token", tokens(3, with_class, 6), 3, with_class, true),
        conv("after a class token, odd channels", tokens(2, with_class, 3), 3, with_class),
        conv("after several tokens", tokens(2, {2, 2, 3}, 4), 3, {2, 2, 3}, true),
        conv("slices", padded({2, 16, 6}, 2), 3, with_class, true),
        conv("slices of odd channels", padded({2, 16, 5}, 6), 3, with_class),
        conv("rows of several strips", tokens(1, {3, 29}, 4), 5, {3, 29}, true),
        conv("side 9, several blocks of taps", tokens(1, {6, 11}, 6), 9, {6, 11}, true),
        conv("many channels", tokens(2, {7, 7, 1}, 386), 3, {7, 7, 1}, true),
        conv("many rows of pixels", tokens(41, {6, 5}, 10), 3, {6, 5}, true),
        conv("many odd channels and rows", tokens(9, {14, 14, 1}, 67), 3, {14, 14, 1}),
        {"a slice that starts at an odd channel",
         {normal({2, 6, 9}), normal({4, 1, 3, 3})},
         [](Inputs in) {
             return std::vector{depthwise_conv(slice(in[0], 2, 3, 4), in[1], {}, {.height = 2, .width = 3})};
         }},
        {"twice",
         {normal({2, 6, 4}), normal({4, 1, 3, 3}), normal({4, 1, 5, 5})},
         [](Inputs in) {
             const TokenGrid grid{.height = 2, .width = 3};
             return std::vector{depthwise_conv(depthwise_conv(in[0], in[1], {}, grid), in[2], {}, grid)};
         }},
    };
}

}  // namespace vkf::checks
