// Products of the same few rows become one node, run by one kernel if there is one.
#include "passes/group_matmuls.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "checks/op_tables.h"
#include "device_fixture.h"
#include "op_check.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "passes/run_passes.h"
#include "program/program.h"

namespace vkf::test {
namespace {

TEST(DeviceGroupedMatmuls, WithoutUniformLoads) {
    DeviceTraits lowering = traits(shared_device());
    lowering.uniform_loads = false;
    for (const OpCase& of : grouped_matmul_cases()) {
        SCOPED_TRACE(of.name);
        check_kernels(of, lowering);
    }
}

struct Ran {
    std::vector<std::vector<float>> y;
    std::size_t dispatches, nodes;
};

/// Runs products of few rows with weights and activations of these formats, grouped or not.
Ran run(bool group, std::int64_t rows, std::int64_t k, const std::vector<std::int64_t>& columns, bool transposed,
        Format weights, Format activations) {
    Graph graph;
    const Tensor a = scale(graph.input("a", {DType::f32, {rows, k}}), 0.5f);
    State state(shared_device());
    for (const std::int64_t n : columns) {
        const std::string name = std::to_string(n);
        const Tensor b = graph.state("b" + name, {DType::f32, transposed ? Shape{n, k} : Shape{k, n}}, weights);
        const Tensor bias = graph.state("bias" + name, {DType::f32, {n}});
        graph.output("y" + name, matmul(a, b, {.transpose_b = transposed, .bias = bias}));
    }
    graph.activations = activations;
    run_passes(graph, {.group_matmuls = group});
    Program program(shared_device(), graph, state, {.guarded = true});
    const auto wave = [](std::int64_t count, double by) {
        std::vector<float> numbers(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = static_cast<float>(std::sin(by * static_cast<double>(i)));
        return numbers;
    };
    for (const std::int64_t n : columns) {
        state.write("b" + std::to_string(n), wave(n * k, 0.7 + 0.01 * static_cast<double>(n)));
        state.write("bias" + std::to_string(n), wave(n, 1.3));
    }
    program.write("a", wave(rows * k, 0.9));
    program.run();
    EXPECT_EQ(program.damaged_guards(), "");
    Ran ran{{}, program.dispatches(), graph.nodes().size()};
    for (const std::int64_t n : columns) ran.y.push_back(program.read("y" + std::to_string(n)));
    return ran;
}

TEST(DeviceGroupMatmuls, GivesTheBitsOfTheProductsOneByOne) {
    const auto check = [](std::int64_t rows, std::int64_t k, const std::vector<std::int64_t>& columns, bool transposed,
                          Format weights, Format activations) {
        const Ran apart = run(false, rows, k, columns, transposed, weights, activations);
        const Ran grouped = run(true, rows, k, columns, transposed, weights, activations);
        EXPECT_EQ(grouped.y, apart.y);
        EXPECT_EQ(grouped.nodes + 2, apart.nodes);
        EXPECT_EQ(grouped.dispatches + (traits(shared_device()).cpu ? 2 : 0), apart.dispatches);
    };
    for (const std::int64_t rows : {1, 4})
        for (const bool transposed : {false, true})
            for (const Format weights : {Format::f32, Format::bf16, Format::f16})
                for (const Format activations : {Format::f32, Format::bf16})
                    check(rows, 70, {66, 14, 130}, transposed, weights, activations);
    check(1, 300, {400, 350, 338}, true, Format::f32, Format::f32);  // unrolled
    check(1, 300, {330, 320, 310}, true, Format::f32, Format::f32);  // each too small to be unrolled
}

/// Number of nodes that grouping removes from the products of a [rows, 8] that `make` appends.
std::size_t grouped_nodes(std::int64_t rows, const std::function<void(Graph&, Tensor a, Tensor b, Tensor c)>& make) {
    Graph graph;
    const auto input = [&](const char* name, Shape shape) { return graph.input(name, {DType::f32, std::move(shape)}); };
    make(graph, input("a", {rows, 8}), input("b", {8, 8}), input("c", {8, 8}));
    const std::size_t nodes = graph.nodes().size();
    group_matmuls(graph);
    return nodes - graph.nodes().size();
}

TEST(HostGroupMatmuls, OnlyWhatOneKernelCanDo) {
    const auto two = [](const MatmulOptions& second) {
        return [=](Graph& graph, Tensor a, Tensor b, Tensor c) {
            graph.output("first", matmul(a, b));
            graph.output("second", matmul(a, c, second));
        };
    };
    EXPECT_EQ(grouped_nodes(1, two({})), 1u);
    EXPECT_EQ(grouped_nodes(4, two({})), 1u);
    EXPECT_EQ(grouped_nodes(5, two({})), 0u) << "is no decoding";
    EXPECT_EQ(grouped_nodes(1, two({.transpose_b = true})), 0u);
    EXPECT_EQ(grouped_nodes(1, two({.alpha = 2.0f})), 0u);
    EXPECT_EQ(grouped_nodes(1, two({.activation = Activation::relu})), 0u);
    EXPECT_EQ(grouped_nodes(1,
                            [](Graph& graph, Tensor a, Tensor b, Tensor c) {
                                graph.output("first", matmul(a, b));
                                graph.output("second", matmul(a, c, {.addend = a}));
                            }),
              0u);
    EXPECT_EQ(grouped_nodes(1,
                            [](Graph& graph, Tensor a, Tensor b, Tensor c) {
                                graph.output("first", matmul(a, b));
                                graph.output("second", matmul(a, scale(c, 2.0f)));  // computed in between
                            }),
              0u);
    EXPECT_EQ(grouped_nodes(1,
                            [](Graph& graph, Tensor a, Tensor b, Tensor c) {
                                graph.output("second", matmul(matmul(a, b), c));  // products of different a
                            }),
              0u);
}

/// Transposed and other products of the same a form separate groups.
TEST(HostGroupMatmuls, GroupsWhatIsAlike) {
    Graph graph;
    const Tensor a = graph.input("a", {DType::f32, {2, 8}});
    for (const char* name : {"b", "c", "d", "e"}) {
        const Tensor weight = graph.input(name, {DType::f32, {8, 8}});
        graph.output(std::string("y") + name, matmul(a, weight, {.transpose_b = *name == 'c' || *name == 'd'}));
    }
    group_matmuls(graph);
    EXPECT_EQ(graph.nodes().size(), 2u);
}

/// More products than an op can describe: groups of 15, 15 and 3.
TEST(HostGroupMatmuls, GroupsManyInParts) {
    Graph graph;
    const Tensor a = graph.input("a", {DType::f32, {1, 4}});
    for (int i = 0; i < 33; ++i)
        graph.output("y" + std::to_string(i), matmul(a, graph.input("b" + std::to_string(i), {DType::f32, {4, 2}})));
    group_matmuls(graph);
    EXPECT_EQ(graph.nodes().size(), 3u);
    for (const Node& node : graph.nodes()) EXPECT_LE(node.in.size(), 32u);
}

}  // namespace
}  // namespace vkf::test
