#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"
#include "device_fixture.h"
#include "graph/reference.h"
#include "ops/ops.h"
#include "program/program.h"

#include <gtest/gtest.h>

namespace vkf::test {
namespace {

const std::vector<std::int64_t> sizes{1, 7, 4099, 130, 64};

std::vector<double> drawn(std::size_t count, unsigned seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    std::vector<double> numbers(count);
    for (double& x : numbers) x = static_cast<double>(normal(random));
    return numbers;
}

std::vector<float> floats(const std::vector<double>& numbers) {
    return {numbers.begin(), numbers.end()};
}

class DeviceGradients : public ::testing::TestWithParam<int> {};

TEST_P(DeviceGradients, HaveOneNormAndAreClippedByIt) {
    Graph graph;
    std::vector<Tensor> gradients;
    Arrays inputs;
    double sum = 0;
    for (int k = 0; k < GetParam(); ++k) {
        const std::int64_t count = sizes[static_cast<std::size_t>(k) % sizes.size()] + k;
        gradients.push_back(graph.input(text('g', k), {DType::f32, {count}}));
        Array& array =
            inputs[text('g', k)] = {{count}, drawn(static_cast<std::size_t>(count), static_cast<unsigned>(k))};
        for (const double x : array.at) sum += x * x;
    }
    const GlobalNorm tight = global_norm(gradients, 0.0078125f), loose = global_norm(gradients, 1e6f),
                     none = global_norm(gradients);
    graph.output("norm", tight.norm);
    graph.output("tight", tight.clip);
    graph.output("loose", loose.clip);
    graph.output("none", none.clip);
    State state(shared_device());
    Program program(shared_device(), graph, state, {.guarded = true});
    for (const auto& [name, array] : inputs) program.write(name, floats(array.at));
    program.run();
    EXPECT_EQ(program.damaged_guards(), "");
    const double norm = std::sqrt(sum), eps = std::ldexp(1.0, -24);
    EXPECT_NEAR(program.read_scalar("norm"), norm, 32 * eps * norm);  // 4099 squares, at most 1025 in a row
    EXPECT_NEAR(program.read_scalar("tight"), 0.0078125 / (norm + 1e-6), 32 * eps * 0.0078125 / norm);
    EXPECT_EQ(program.read_scalar("loose"), 1.0f);
    EXPECT_EQ(program.read_scalar("none"), 1.0f);
    const Arrays wanted = interpret(graph, inputs);
    EXPECT_NEAR(wanted.at("norm").at[0], norm, 1e-12 * norm);
    EXPECT_NEAR(wanted.at("tight").at[0], 0.0078125 / (norm + 1e-6), 1e-12);
    EXPECT_EQ(wanted.at("loose").at[0], 1.0);
}

TEST_P(DeviceGradients, SkipTheStepWhereOneIsNotFinite) {
    Graph graph;
    std::vector<Tensor> gradients;
    for (int k = 0; k < GetParam(); ++k) gradients.push_back(graph.input(text('g', k), {DType::f32, {3}}));
    const GlobalNorm found = global_norm(gradients, 1.0f), without_limit = global_norm(gradients);
    graph.output("norm", found.norm);
    graph.output("clip", found.clip);
    graph.output("clip without a limit", without_limit.clip);
    State state(shared_device());
    Program program(shared_device(), graph, state);
    Arrays inputs;
    for (int k = 0; k < GetParam(); ++k) inputs[text('g', k)] = {{3}, {0, 0, 0}};
    const std::string last = text('g', GetParam() - 1);
    // The square of the last one overflows in fp32.
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -1e20f}) {
        program.write(last, std::array{1.0f, bad, 1.0f});
        program.run();
        EXPECT_FALSE(std::isfinite(program.read_scalar("norm"))) << bad;
        EXPECT_EQ(program.read_scalar("clip"), -1.0f) << bad;
        EXPECT_EQ(program.read_scalar("clip without a limit"), -1.0f) << bad;
        if (std::isfinite(bad)) continue;  // in double
        inputs[last] = {{3}, {1, bad, 1}};
        EXPECT_EQ(interpret(graph, inputs).at("clip").at[0], -1.0) << bad;
    }
}

TEST_P(DeviceGradients, AddUpInPlaceAndReturnToZero) {
    Graph adding, clearing;
    std::vector<Tensor> sums, values, cleared;
    Arrays inputs;
    for (int k = 0; k < GetParam(); ++k) {
        const TensorType type{DType::f32, {sizes[static_cast<std::size_t>(k) % sizes.size()]}};
        sums.push_back(adding.state(text("sum", k), type));
        cleared.push_back(clearing.state(text("sum", k), type));
        values.push_back(adding.input(text('g', k), type));
        inputs[text('g', k)] = {type.shape,
                                drawn(static_cast<std::size_t>(type.shape.elements()), static_cast<unsigned>(k))};
    }
    add_into(sums, values, 0.375f);
    zero(cleared);
    State state(shared_device());
    Program add(shared_device(), adding, state), clear(shared_device(), clearing, state);
    for (const auto& [name, array] : inputs) add.write(name, floats(array.at));
    for (int round = 0; round < 2; ++round) {
        add.run();
        add.run();
        for (int k = 0; k < GetParam(); ++k) {
            const std::vector<float> found = state.read(text("sum", k));
            const std::vector<double>& g = inputs.at(text('g', k)).at;
            for (std::size_t i = 0; i < g.size(); ++i)
                ASSERT_NEAR(found[i], 0.75 * g[i], std::ldexp(std::abs(g[i]), -23))
                    << "tensor " << k << ", element " << i;
        }
        clear.run();
        for (int k = 0; k < GetParam(); ++k)
            for (const float x : state.read(text("sum", k))) ASSERT_EQ(x, 0.0f);
    }
}

INSTANTIATE_TEST_SUITE_P(Counts, DeviceGradients, ::testing::Values(1, 2, 7, 8, 9, 20));

TEST(DeviceGradients, MayStartAtAnOddElement) {
    Graph graph;
    const Tensor whole = graph.input("g", {DType::f32, {10, 1}});
    const Tensor g = reshape(slice(whole, 0, 1, 8), {8});
    const Slot slot{.parameter = graph.state("p", {DType::f32, {8}}), .gradient = g};
    const Tensor rates = graph.input("rates", {DType::f32, {4}});
    graph.output("norm", global_norm(std::span(&g, 1)).norm);
    sgd(std::span(&slot, 1), rates, {});
    add_into(std::array{graph.state("sum", {DType::f32, {8}})}, std::array{g}, 2.0f);
    State state(shared_device());
    Program program(shared_device(), graph, state);
    program.write("g", std::vector<float>{std::nanf(""), 1, 2, 3, 4, 5, 6, 7, 8, std::nanf("")});
    program.write("rates", step_rates(1.0, 0.9, 0.999, 1));
    program.run();
    EXPECT_FLOAT_EQ(program.read_scalar("norm"), std::sqrt(204.0f));
    EXPECT_EQ(state.read("p"), (std::vector<float>{-1, -2, -3, -4, -5, -6, -7, -8}));
    EXPECT_EQ(state.read("sum"), (std::vector<float>{2, 4, 6, 8, 10, 12, 14, 16}));
}

}  // namespace
}  // namespace vkf::test
