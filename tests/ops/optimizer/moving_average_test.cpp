// Moving averages of many tensors, in place.

#include "ops/optimizer/moving_average.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "device_fixture.h"
#include "graph/reference.h"
#include "program/program.h"

namespace vkf::test {
namespace {

constexpr double decay = 0.9375;
const std::vector<std::int64_t> sizes{1, 7, 4099, 130, 64};

float value(std::size_t tensor, std::size_t i) {
    return std::sin(static_cast<float>(tensor * 31 + i)) + 0.5f;
}

class DeviceMovingAverage : public ::testing::TestWithParam<std::size_t> {};

/// Averages of constant values: after n steps the share decay^n of the initial value, 4, remains.
TEST_P(DeviceMovingAverage, FollowsManyTensorsAndSkipsWithTheStep) {
    Graph graph;
    std::vector<Tensor> averages, values;
    for (std::size_t k = 0; k < GetParam(); ++k) {
        const TensorType type{DType::f32, {sizes[k % sizes.size()]}};
        averages.push_back(graph.state(text("average", k), type));
        values.push_back(graph.input(text('x', k), type));
    }
    moving_average(averages, values, graph.input("clip", {DType::f32, {}}), decay);
    State state(shared_device());
    Program program(shared_device(), graph, state, {.guarded = true});
    Arrays inputs{{"clip", {{}, {0.5}}}};
    for (std::size_t k = 0; k < GetParam(); ++k) {
        std::vector<float> x;
        for (std::size_t i = 0; i < static_cast<std::size_t>(sizes[k % sizes.size()]); ++i) x.push_back(value(k, i));
        state.write(text("average", k), std::vector<float>(x.size(), 4.0f));
        program.write(text('x', k), x);
        inputs[text('x', k)] = {averages[k].shape(), {x.begin(), x.end()}};
        inputs[text("average", k)] = {averages[k].shape(), std::vector<double>(x.size(), 4.0)};
    }
    const Arrays once = interpret(graph, inputs);
    double left = 1;
    for (const float clip : {0.5f, 1.0f, -1.0f, 1.0f}) {
        program.write("clip", std::array{clip});
        program.run();
        if (clip > 0) left *= decay;
        for (std::size_t k = 0; k < GetParam(); ++k) {
            const std::vector<float> found = state.read(text("average", k));
            for (std::size_t i = 0; i < found.size(); ++i) {
                const auto x = static_cast<double>(value(k, i));
                // Three steps of three roundings each, of numbers below 5.
                ASSERT_NEAR(found[i], x + left * (4 - x), 9 * 5 * 0x1p-24) << "tensor " << k << ", element " << i;
                if (left == decay) {
                    ASSERT_NEAR(once.at(text("average", k)).at[i], x + left * (4 - x), 1e-12);
                }
            }
        }
    }
    EXPECT_EQ(program.damaged_guards(), "");
    inputs["clip"] = {{}, {-1.0}};
    EXPECT_EQ(interpret(graph, inputs).at("average0").at, inputs.at("average0").at);
}

INSTANTIATE_TEST_SUITE_P(Counts, DeviceMovingAverage, ::testing::Values(1, 2, 7, 100));

TEST(HostMovingAverage, RefusesWhatDoesNotFit) {
    Graph graph;
    const Tensor clip = graph.input("clip", {DType::f32, {}}), x = graph.input("x", {DType::f32, {3}});
    const std::array average{graph.state("average", {DType::f32, {3}})}, other{graph.state("b", {DType::f32, {4}})};
    const std::array values{x};
    EXPECT_THROW(moving_average(other, values, clip, 0.5), InputError);
    EXPECT_THROW(moving_average(average, values, x, 0.5), InputError);
    EXPECT_THROW(moving_average(average, {}, clip, 0.5), InputError);
    EXPECT_THROW(moving_average(average, values, clip, 1.0), InputError);
}

}  // namespace
}  // namespace vkf::test
