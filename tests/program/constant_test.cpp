// Constants: tensors whose values the graph knows.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "apps/inspect/analysis.h"
#include "base/error.h"
#include "device_fixture.h"
#include "graph/reference.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/embedding.h"
#include "ops/movement/view.h"
#include "ops/optimizer/optimize.h"
#include "ops/rows/reduce.h"
#include "program/program.h"

namespace vkf::test {
namespace {

std::vector<float> ramp(std::int64_t count, float first) {
    std::vector<float> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), first);
    return values;
}

/// y = x · (right half of c) + rows k of (left half of c), with constants c [S, 2 w] and k [S].
Tensor describe(Graph& graph, std::int64_t rows, std::int64_t width) {
    const Tensor x = graph.input("x", {DType::f32, {rows, width}});
    const Tensor c = graph.constant({rows, 2 * width}, ramp(2 * rows * width, 0.5f));
    std::vector<std::int32_t> backwards(static_cast<std::size_t>(rows));
    std::iota(backwards.rbegin(), backwards.rend(), 0);
    const Tensor k = graph.constant({rows}, backwards);
    return add(mul(x, slice(c, 1, width, width)), embedding(slice(c, 1, 0, width), k));
}

TEST(HostConstant, EqualOnesAreOneTensor) {
    Graph graph;
    const std::array values{1.0f, 2.0f, 3.0f, 4.0f}, others{1.0f, 2.0f, 3.0f, 5.0f};
    const Tensor a = graph.constant({2, 2}, values);
    EXPECT_EQ(graph.constant({2, 2}, values), a);
    EXPECT_NE(graph.constant({4}, values), a);
    EXPECT_NE(graph.constant({2, 2}, others), a);
    EXPECT_NE(graph.constant({2, 2}, std::array{1, 2, 3, 4}), a);
    EXPECT_THROW(graph.constant({2, 3}, values), InputError);
    graph.input("constant", {DType::f32, {1}});  // constants take no name
    EXPECT_EQ(graph.input_named("constant").elements(), 1);
}

TEST(HostConstant, IsNeverWrittenAndHasNoGradient) {
    Graph graph;
    const Tensor c = graph.constant({2}, std::array{1.0f, 2.0f}), x = graph.input("x", {DType::f32, {2}});
    EXPECT_THROW(vkf::accumulate(std::array{c}, std::array{x}, 1.0f), InputError);
    const Tensor loss = row_sum(mul(x, c));
    EXPECT_THROW(gradients(loss, std::array{c}), InputError);
    const std::vector<Tensor> found = gradients(loss, std::array{x});
    graph.output("d_x", scale(found[0], 1.0f));
    EXPECT_EQ(interpret(graph, {{"x", {{2}, {7, 8}}}}).at("d_x").at, (std::vector<double>{1, 2}));
}

TEST(DeviceConstant, IsReadLikeAnyOtherInput) {
    constexpr std::int64_t rows = 5, width = 6;
    Graph graph;
    graph.output("y", describe(graph, rows, width));
    const std::vector<float> x = ramp(rows * width, -7);
    const Array given{{rows, width}, {x.begin(), x.end()}};
    const Array wanted = interpret(graph, {{"x", given}}).at("y");
    EXPECT_EQ(wanted.at[0], -7 * 6.5 + 48.5);  // c[0, 6] and c[4, 0]
    for (const bool guarded : {false, true}) {
        State state(shared_device());
        Program program(shared_device(), graph, state, {.guarded = guarded});
        program.write("x", x);
        for (int runs = 0; runs < 2; ++runs) {
            program.run();
            const std::vector<float> found = program.read("y");
            EXPECT_EQ(std::vector<double>(found.begin(), found.end()), wanted.at);
        }
        EXPECT_EQ(guarded ? program.damaged_guards() : "", "");
        EXPECT_EQ(program.find_non_finite(), "");
    }
}

TEST(DeviceConstant, ProgramsOverOneStateShareIt) {
    State state(shared_device());
    Graph first, second, third;
    const std::vector<float> table = ramp(64, 1);
    const auto describe_with = [](Graph& graph, Shape shape, const std::vector<float>& values) {
        const Tensor c = graph.constant(shape, values);
        graph.output("y", add(c, graph.input("x", {DType::f32, shape})));
    };
    describe_with(first, {64}, table);
    describe_with(second, {8, 8}, table);  // the same values in another shape
    describe_with(third, {64}, ramp(64, 2));
    Program one(shared_device(), first, state);
    const std::uint64_t bytes = state.bytes();
    EXPECT_EQ(bytes, 256u);
    Program two(shared_device(), second, state);
    EXPECT_EQ(state.bytes(), bytes);
    Program three(shared_device(), third, state);
    EXPECT_EQ(state.bytes(), 2 * bytes);
    float greatest = 64;
    for (Program* program : {&one, &two, &three}) {
        EXPECT_EQ(program->memory().constants, 256);
        EXPECT_EQ(program->memory().states, 0);
        program->write("x", std::vector<float>(64, 0.0f));
        program->run();
        EXPECT_EQ(program->read("y").back(), program == &three ? greatest + 1 : greatest);
    }
    EXPECT_EQ(analyse(first, traits(shared_device())).constants, 256);
    EXPECT_EQ(analyse(first, traits(shared_device())).inputs, one.memory().inputs);
}

}  // namespace
}  // namespace vkf::test
