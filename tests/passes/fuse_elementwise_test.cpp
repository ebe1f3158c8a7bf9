// Chains of elementwise nodes that become one node.
#include "passes/fuse_elementwise.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graph/plan.h"
#include "models/scope.h"
#include "op_check.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/dropout.h"
#include "ops/matmul/matmul.h"
#include "ops/optimizer/optimize.h"
#include "ops/rows/reduce.h"
#include "ops/rows/softmax.h"

namespace vkf::test {
namespace {

/// Number of nodes that remain after fusion of a graph that `build` makes from inputs x and y, [4, 6], and z, [6].
std::size_t left_of(const std::function<void(Graph&, Tensor x, Tensor y, Tensor z)>& build) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {4, 6}});
    const Tensor y = graph.input("y", {DType::f32, {4, 6}});
    build(graph, x, y, graph.input("z", {DType::f32, {6}}));
    fuse_elementwise(graph);
    return graph.nodes().size();
}

TEST(HostFuseElementwise, AChainIsOneNodeNamedForItsParts) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {4, 6}});
    const Tensor z = graph.input("z", {DType::f32, {6}});
    graph.output("out", activate(mul(add(x, z), z), Activation::gelu));
    fuse_elementwise(graph);
    ASSERT_EQ(graph.nodes().size(), 1u);
    EXPECT_EQ(graph.nodes()[0].op->name(), "add+mul+gelu");
    EXPECT_EQ(graph.nodes()[0].in, (std::vector{x, z}));
}

TEST(HostFuseElementwise, StochasticDepthIsOneNodeBesideItsMask) {
    Graph graph;
    Parameters none;
    const Tensor x = graph.input("x", {DType::f32, {4, 5, 6}}), y = graph.input("y", {DType::f32, {4, 5, 6}});
    const Scope scope(graph, none,
                      {.dropout = 0.2f, .drop_path = 0.4f, .seed = graph.input("seed", {DType::i32, {2}})});
    graph.output("out", add(x, mul(scope.drop(y), scope.drop_path(x.shape()))));
    fuse_elementwise(graph);
    std::vector<std::string> names;
    for (const Node& node : graph.nodes()) names.emplace_back(node.op->name());
    EXPECT_EQ(names, (std::vector<std::string>{"fill+dropout", "dropout+mul+add"}));
}

TEST(HostFuseElementwise, WhatOthersReadStays) {
    EXPECT_EQ(left_of([](Graph& graph, Tensor x, Tensor y, Tensor) {
                  const Tensor twice = scale(x, 2.0f);
                  graph.output("sum", add(twice, y));
                  graph.output("difference", sub(twice, y));
              }),
              3u);
    EXPECT_EQ(left_of([](Graph& graph, Tensor x, Tensor y, Tensor) {
                  const Tensor twice = scale(x, 2.0f);
                  graph.output("sum", add(twice, y));
                  graph.output("twice", twice);
              }),
              2u);
}

TEST(HostFuseElementwise, WhatIsBroadcastIsMadeOnce) {
    EXPECT_EQ(left_of([](Graph& graph, Tensor x, Tensor, Tensor z) { graph.output("y", add(x, scale(z, 2.0f))); }), 2u);
}

TEST(HostFuseElementwise, InputsThatRepeatDifferentlyStayApart) {
    EXPECT_EQ(
        left_of([](Graph& graph, Tensor x, Tensor y, Tensor z) { graph.output("y", mul(add(x, z), row_sum(y))); }), 3u);
}

TEST(HostFuseElementwise, AnInputThatRepeatsInSeveralRunsTakesTheOthersAlong) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {2, 3, 4, 6}});
    const Tensor mask = graph.input("mask", {DType::f32, {2, 1, 1, 6}}), z = graph.input("z", {DType::f32, {6}});
    graph.output("y", activate(mul(add(x, mask), z), Activation::gelu));
    fuse_elementwise(graph);
    ASSERT_EQ(graph.nodes().size(), 1u);
    EXPECT_EQ(graph.nodes()[0].op->name(), "add+mul+gelu");
}

TEST(HostFuseElementwise, NoMoreStepsOrInputsThanAKernelTakes) {
    EXPECT_EQ(left_of([](Graph& graph, Tensor x, Tensor, Tensor) {
                  Tensor y = x;
                  for (int i = 0; i < 7; ++i) y = activate(y, Activation::gelu);
                  graph.output("y", y);
              }),
              2u);
    EXPECT_EQ(left_of([](Graph& graph, Tensor x, Tensor, Tensor) {
                  Tensor y = x;
                  for (int i = 0; i < 6; ++i)
                      y = add(y, graph.input("term " + std::to_string(i), {DType::f32, {4, 6}}));
                  graph.output("y", y);
              }),
              2u);
}

TEST(HostFuseElementwise, WhatIsOverwrittenMeanwhileIsReadBefore) {
    const auto build = [](Graph& graph, bool overwritten) {
        const Tensor x = graph.input("x", {DType::f32, {4, 6}});
        const std::vector weights{graph.state("w", {DType::f32, {4, 6}})};
        const Tensor sum = add(x, weights[0]);
        if (overwritten) zero(weights);
        graph.output("y", mul(sum, x));
        fuse_elementwise(graph);
        return graph.nodes().size();
    };
    Graph kept, overwritten;
    EXPECT_EQ(build(kept, false), 1u);
    EXPECT_EQ(build(overwritten, true), 3u);
}

/// Lower bound of the memory of a graph with a value that is computed early, from `sources` values that no other op
/// reads, and read late.
std::int64_t bound(int sources, bool fused) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {64, 64}});
    const auto made = [&] { return matmul(x, x, {}); };
    Tensor early = activate(made(), Activation::gelu);
    if (sources == 2) early = add(early, made());
    Tensor late = x;
    for (int i = 0; i < 5; ++i) late = softmax(matmul(late, x, {}));
    graph.output("y", mul(early, late));
    const std::size_t before = graph.nodes().size();
    if (fused) {
        fuse_elementwise(graph);
        EXPECT_LT(graph.nodes().size(), before);
    }
    return plan(graph, live_nodes(graph), std::vector<std::vector<std::int64_t>>(graph.nodes().size())).bound;
}

TEST(HostFuseElementwise, NeverTakesMoreMemory) {
    for (const int sources : {1, 2}) EXPECT_LE(bound(sources, true), bound(sources, false)) << sources;
}

}  // namespace
}  // namespace vkf::test
