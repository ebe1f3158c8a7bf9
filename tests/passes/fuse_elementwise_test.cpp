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

using Inputs = std::span<const Tensor>;
using Build = std::function<Tensor(Inputs)>;

OpCase chain(std::string name, std::vector<Operand> operands, const Build& build) {
    return {std::move(name), std::move(operands), [=](Inputs in) { return std::vector{build(in)}; }};
}

constexpr std::int64_t WORD = std::int64_t{1} << 31;

Operand seed() {
    return integers({2}, -WORD, WORD);
}

/// A chain of bias, GELU and dropout on rows of `width`. Chains cover every length of the tail and way of broadcasting.
OpCase hidden_layer(std::int64_t width) {
    return chain("hidden layer " + std::to_string(width), {normal({5, width}), normal({width}), seed()},
                 [](Inputs x) { return dropout(activate(add(x[0], x[1]), Activation::gelu), 0.3f, x[2], 9); });
}

/// Dropout and stochastic depth as models use them: a branch, kept or dropped per sample, is added to its input.
Tensor with_branch(Tensor x, Tensor branch, Tensor seed) {
    Parameters none;
    const Scope scope(x.graph(), none, {.dropout = 0.2f, .drop_path = 0.4f, .seed = seed});
    return add(x, mul(scope.drop(branch), scope.drop_path(x.shape())));
}

OpCase drop_path(std::int64_t width) {
    return chain("drop path " + std::to_string(width), {normal({3, 5, width}), normal({3, 5, width}), seed()},
                 [](Inputs x) { return with_branch(x[0], x[1], x[2]); });
}

const std::vector<OpCase> chain_cases{
    chain("masked", {normal({2, 3, 4, 6}), normal({2, 1, 1, 6}), normal({6}), seed()},
          [](Inputs x) { return dropout(activate(add(mul(x[0], x[2]), x[1]), Activation::relu), 0.3f, x[3], 9); }),
    chain("masked, odd", {normal({2, 3, 4, 5}), normal({2, 1, 1, 5}), normal({3, 1, 1}), seed()},
          [](Inputs x) { return dropout(activate(mul(add(x[0], x[1]), x[2]), Activation::gelu), 0.3f, x[3], 9); }),
    hidden_layer(1),
    hidden_layer(3),
    hidden_layer(6),
    hidden_layer(64),
    drop_path(1),
    drop_path(2),
    drop_path(7),
    drop_path(64),
    chain("gated", {normal({7, 33}), normal({7, 33})},
          [](Inputs x) { return mul(activate(x[0], Activation::silu), x[1]); }),
    chain("dropped and added", {normal({9, 33}), normal({9, 33}), seed()},
          [](Inputs x) { return add(dropout(x[0], 0.2f, x[2], 3), x[1]); }),
    // Two elements at a time take half a block of random words: six is not a multiple of four.
    chain("dropped with a bias of six", {normal({5, 6}), normal({6}), seed()},
          [](Inputs x) { return dropout(add(x[0], x[1]), 0.3f, x[2], 9); }),
    chain("dropped twice", {normal({4, 10}), seed()},
          [](Inputs x) { return dropout(scale(dropout(x[0], 0.2f, x[1], 3), 3.0f), 0.4f, x[1], 4); }),
    chain("all of one", {normal({40})}, [](Inputs x) { return mul(add(x[0], x[0]), sub(x[0], scale(x[0], 3.0f))); }),
    chain("one value", {normal({1}), normal({1}, 0.1, 2)}, [](Inputs x) { return div(scale(x[0], 2.0f), x[1]); }),
    chain("fill", {normal({3, 5})},
          [](Inputs x) {
              return add(fill(x[0].graph(), {3, 5}, 2.5f), x[0]);
          }),
    chain("long", {normal({100})},
          [](Inputs x) {
              Tensor y = x[0];
              for (int i = 0; i < 9; ++i) y = i % 3 == 2 ? add(y, x[0]) : scale(y, 0.75f);
              return y;
          }),
    chain("slices", {padded({6, 12}, 3), padded({6, 12}, 5)},
          [](Inputs x) { return activate(add(x[0], scale(x[1], 2.0f)), Activation::relu); }),
};

VKF_OP_TABLE(Chain, chain_cases);

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
    const Tensor x = graph.input("x", {DType::f32, {4, 5, 6}}), y = graph.input("y", {DType::f32, {4, 5, 6}});
    graph.output("out", with_branch(x, y, graph.input("seed", {DType::i32, {2}})));
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
