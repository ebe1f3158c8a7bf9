#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"
#include "device_fixture.h"
#include "graph/reference.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"
#include "ops/optimizer/optimize.h"
#include "ops/optimizer/optimizers.h"
#include "program/program.h"

#include <gtest/gtest.h>

namespace vkf::test {
namespace {

const std::vector<std::int64_t> sizes{1, 7, 4099, 0, 130, 64};

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
        const std::int64_t count = k % 10 == 5 ? 0 : sizes[static_cast<std::size_t>(k) % sizes.size()] + k;
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
    EXPECT_NEAR(program.read_scalar("norm"), norm, 32 * eps * norm);  // 4099 squares, at most 1025 one after the other
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
        if (std::isfinite(bad)) continue;  // squares are finite in double
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
    vkf::accumulate(sums, values, 0.375f);
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

INSTANTIATE_TEST_SUITE_P(Counts, DeviceGradients, ::testing::Values(1, 2, 7, 100));

TEST(DeviceGradients, MayBeEmpty) {
    Graph graph;
    const GlobalNorm none = global_norm(std::array{graph.input("g", {DType::f32, {0}})}, 1.0f);
    graph.output("norm", none.norm);
    graph.output("clip", none.clip);
    State state(shared_device());
    Program program(shared_device(), graph, state);
    program.run();
    EXPECT_EQ(program.read_scalar("norm"), 0.0f);
    EXPECT_EQ(program.read_scalar("clip"), 1.0f);
}

TEST(DeviceGradients, MayBeMoreThanADevicesWorkgroupsAlongOneAxis) {
    constexpr std::int64_t count = 66000;
    Graph graph;
    const Tensor whole = scale(graph.input("g", {DType::f32, {count, 1}}), 1.0f);
    std::vector<Tensor> gradients;
    for (std::int64_t i = 0; i < count; ++i) gradients.push_back(slice(whole, 0, i, 1));
    graph.output("norm", global_norm(gradients).norm);
    State state(shared_device());
    Program program(shared_device(), graph, state, {.guarded = true});
    program.write("g", std::vector<float>(count, 2.0f));
    program.run();
    EXPECT_EQ(program.damaged_guards(), "");
    EXPECT_FLOAT_EQ(program.read_scalar("norm"), 2.0f * std::sqrt(66000.0f));  // sums of small whole numbers
}

/// Targets after values are added to them, and cleared tensors, with `per_node` tensors per node.
std::vector<std::vector<float>> summed(std::size_t per_node) {
    constexpr std::size_t count = 100;
    Graph graph;
    Arrays inputs;
    std::vector<Tensor> targets, values, cleared;
    for (std::size_t k = 0; k < count; ++k) {
        const auto size = static_cast<std::int64_t>(k % 10 == 3    ? 0
                                                    : k % 10 == 7  ? 1
                                                    : k % 25 == 24 ? 5000 + k
                                                                   : 3 * k);
        const auto made = [&](const char* name) {
            const std::string full = text(name, k);
            inputs[full] = {{size}, drawn(static_cast<std::size_t>(size), static_cast<unsigned>(inputs.size()))};
            return scale(graph.input(full, {DType::f32, {size}}), 1.0f);  // between guard bands
        };
        targets.push_back(made("target"));
        values.push_back(made("value"));
        cleared.push_back(made("cleared"));
    }
    for (std::size_t first = 0; first < count; first += per_node) {
        const auto part = [&](const std::vector<Tensor>& of) { return std::span(of).subspan(first, per_node); };
        const std::vector<Tensor> sums = vkf::accumulate(part(targets), part(values), 0.375f);
        const std::vector<Tensor> zeros = zero(part(cleared));
        for (std::size_t i = 0; i < per_node; ++i) {
            if (sums[i].elements() == 0) continue;
            graph.output(text("sum", first + i), sums[i]);
            graph.output(text("zero", first + i), zeros[i]);
        }
    }
    State state(shared_device());
    Program program(shared_device(), graph, state, {.guarded = true});
    for (const auto& [name, array] : inputs) program.write(name, floats(array.at));
    program.run();
    EXPECT_EQ(program.damaged_guards(), "");
    std::vector<std::vector<float>> found;
    for (const NamedTensor& output : graph.outputs()) {
        found.push_back(program.read(output.name));
        if (output.name.starts_with("zero")) {
            EXPECT_EQ(found.back(), std::vector<float>(found.back().size(), 0.0f)) << output.name;
        }
    }
    return found;
}

TEST(DeviceGradients, AddUpTogetherAsEachByItself) {
    EXPECT_EQ(summed(100), summed(1));
}

TEST(DeviceGradients, MayStartAtAnOddElement) {
    Graph graph;
    const Tensor whole = graph.input("g", {DType::f32, {10, 1}});
    const Tensor g = reshape(slice(whole, 0, 1, 8), {8});
    const Slot slot{.parameter = graph.state("p", {DType::f32, {8}}), .gradient = g};
    const Tensor rates = graph.input("rates", {DType::f32, {4}});
    graph.output("norm", global_norm(std::span(&g, 1)).norm);
    sgd(std::span(&slot, 1), rates, {});
    vkf::accumulate(std::array{graph.state("sum", {DType::f32, {8}})}, std::array{g}, 2.0f);
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
