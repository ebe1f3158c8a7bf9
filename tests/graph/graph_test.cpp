#include "graph/graph.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "base/error.h"
#include "graph/reference.h"
#include "graph/test_ops.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"

namespace vkf::test {
namespace {

TEST(HostShape, CountsAndNamesItsExtents) {
    const Shape shape{2, 3, 5};
    EXPECT_EQ(shape[0], 2);
    EXPECT_EQ(shape[-1], 5);
    EXPECT_EQ(shape.elements(), 30);
    EXPECT_EQ(shape.rows(), 6);
    EXPECT_EQ(shape.width(), 5);
    EXPECT_EQ(shape.with_width(7), (Shape{2, 3, 7}));
    EXPECT_EQ(text(TensorType{DType::i32, shape}), "i32[2, 3, 5]");
    EXPECT_THROW(shape[3], InputError);
    EXPECT_THROW(shape[-4], InputError);
}

TEST(HostShape, OfAScalarIsOneRowOfOne) {
    const Shape scalar;
    EXPECT_EQ(scalar.elements(), 1);
    EXPECT_EQ(scalar.rows(), 1);
    EXPECT_EQ(scalar.width(), 1);
}

class HostGraph : public ::testing::Test {
protected:
    Tensor f32(std::string name, Shape shape) { return graph.input(std::move(name), {DType::f32, std::move(shape)}); }

    Graph graph;
};

TEST_F(HostGraph, ErrorsNameScopeOpAndShapes) {
    const Tensor a = f32("a", {2, 3}), b = f32("b", {2});
    graph.scope = "h.3.mlp";
    EXPECT_EQ(message([&] { add(a, b); }),
              "h.3.mlp: add: cannot broadcast [2, 3] and [2]: the size of a (3) must match the size of b (2) at "
              "non-singleton dimension 1");
    graph.scope.clear();
    EXPECT_EQ(message([&] { add(a, b); }),
              "add: cannot broadcast [2, 3] and [2]: the size of a (3) must match the size of b (2) at "
              "non-singleton dimension 1");
    EXPECT_TRUE(graph.nodes().empty());
}

TEST_F(HostGraph, NodesRememberTheirScope) {
    const Tensor a = f32("a", {2});
    graph.scope = "wte";
    add(a, a);
    EXPECT_EQ(graph.nodes().at(0).scope, "wte");
    EXPECT_EQ(graph.dump(), "%1 f32[2] = add(%0 f32[2], %0 f32[2])  # wte\n");
}

TEST_F(HostGraph, LeavesAndOutputsHaveNamesOfTheirOwn) {
    const Tensor a = f32("a", {2});
    EXPECT_THROW(f32("a", {3}), InputError);
    graph.output("y", a);
    EXPECT_THROW(graph.output("y", a), InputError);
    EXPECT_EQ(graph.input_named("a"), a);
    EXPECT_EQ(graph.output_named("y"), a);
    EXPECT_EQ(message([&] { graph.input_named("b"); }), "no input 'b'; there are: a");
}

TEST_F(HostGraph, StatesAreSharedByName) {
    const Tensor w = graph.state("w", {DType::f32, {3}});
    EXPECT_EQ(graph.state("w", {DType::f32, {3}}), w);
    EXPECT_EQ(message([&] { graph.state("w", {DType::f32, {4}}); }), "state 'w' is f32[3], asked for as f32[4]");
    f32("x", {3});
    EXPECT_THROW(graph.state("x", {DType::f32, {3}}), InputError);
    EXPECT_THROW(f32("w", {3}), InputError);
}

TEST_F(HostGraph, SlicesAreNoOutputs) {
    const Tensor x = f32("x", {4, 6});
    EXPECT_THROW(graph.output("y", slice(x, 1, 0, 3)), InputError);
    graph.output("y", contiguous(slice(x, 1, 0, 3)));
}

TEST_F(HostGraph, TensorsOfAnotherGraphAreRefused) {
    Graph other;
    const Tensor x = f32("x", {2}), y = other.input("y", {DType::f32, {2}});
    EXPECT_EQ(message([&] { add(x, y); }), "add: an input belongs to another graph");
}

TEST_F(HostGraph, OnlyNodesThatLeadToOutputsAndStatesAreLive) {
    const Tensor x = f32("x", {2}), w = graph.state("w", {DType::f32, {2}});
    const Tensor used = add(x, x);
    add_one(graph, Opaque(), {used});  // dead: no op reads it
    const Tensor step = scale(used, 0.5f);
    add_one(graph, AddInto(), {w, step});
    graph.output("y", reshape(used, {2, 1}));
    EXPECT_EQ(live_nodes(graph).nodes, (std::vector{true, false, true, true, true}));
}

TEST_F(HostGraph, RegionsHoldWhatStandsForTheirNodes) {
    const Tensor x = f32("x", {2});
    scale(x, 2.0f);
    const Tensor b = scale(x, 3.0f);
    graph.mark_region(0);
    const Tensor c = scale(b, 4.0f), d = scale(c, 5.0f);
    graph.mark_region(2);
    graph.rewrite([&](std::size_t i, Node node) -> std::optional<Node> {
        if (i == 0) return {};
        if (i == 2) add(x, x);  // before the region, and in none
        if (i == 3) node.in = {b};
        return node;
    });
    ASSERT_EQ(graph.nodes().size(), 4u);
    EXPECT_EQ(graph.nodes()[0].out[0], b);
    EXPECT_EQ(graph.nodes()[2].out[0], c);
    EXPECT_EQ(graph.nodes()[3].out[0], d);
    EXPECT_EQ(graph.nodes()[3].in, std::vector{b});
    EXPECT_EQ(graph.regions()[0].first, 0u);
    EXPECT_EQ(graph.regions()[0].end, 1u);
    EXPECT_EQ(graph.regions()[1].first, 2u);
    EXPECT_EQ(graph.regions()[1].end, 4u);
}

TEST_F(HostGraph, DeadNodesAreNotInterpreted) {
    const Tensor x = f32("x", {1});
    add_one(graph, Failing(), {x});
    graph.output("y", add(x, x));
    EXPECT_EQ(interpret(graph, {{"x", {{1}, {3.0}}}}).at("y").at, std::vector{6.0});
}

TEST_F(HostGraph, UpdatesReplaceAStateUnderItsName) {
    const TensorType type{DType::f32, {2}};
    const Tensor w = graph.state("w", type), x = f32("x", {2});
    const Tensor updated = add_one(graph, AddInto(), {w, x});
    EXPECT_EQ(graph.state("w", type), updated);
    EXPECT_EQ(graph.input_named("w"), updated);
    EXPECT_EQ(graph.value(updated).storage, graph.value(w).storage);
    graph.output("y", scale(updated, 2.0f));
    const Arrays results = interpret(graph, {{"w", {{2}, {1.0, 2.0}}}, {"x", {{2}, {10.0, 20.0}}}});
    EXPECT_EQ(results.at("w").at, (std::vector{11.0, 22.0}));
    EXPECT_EQ(results.at("y").at, (std::vector{22.0, 44.0}));
}

TEST_F(HostGraph, WhatWasOverwrittenCannotBeRead) {
    const Tensor w = graph.state("w", {DType::f32, {2, 2}}), x = f32("x", {2, 2});
    const Tensor view = reshape(w, {4});
    add_one(graph, AddInto(), {w, x});
    graph.scope = "head";
    EXPECT_EQ(message([&] { add(w, x); }), "head: add: reads 'w' after it was overwritten");
    EXPECT_EQ(message([&] { scale(view, 2.0f); }), "head: scale: reads 'w' after it was overwritten");
}

TEST_F(HostGraph, UpdatesKeepTheType) {
    const Tensor w = graph.state("w", {DType::f32, {2}}), x = f32("x", {3, 2});
    EXPECT_EQ(message([&] { add_one(graph, AddInto(), {w, x}); }), "accumulate: would overwrite f32[2] with f32[3, 2]");
}

TEST_F(HostGraph, TheInterpreterAsksForEveryLeafInItsShape) {
    graph.output("y", scale(f32("x", {2}), 2.0f));
    EXPECT_EQ(message([&] { interpret(graph, {}); }), "interpret: no array for 'x'");
    EXPECT_EQ(message([&] { interpret(graph, {{"x", {{3}, {1, 2, 3}}}}); }), "interpret: 'x' is [2], given [3]");
}

TEST_F(HostGraph, ExtentsMustFitInAKernelsArguments) {
    EXPECT_EQ(checked_u32(std::int64_t{0xffffffff}), 0xffffffffu);
    EXPECT_THROW(checked_u32(std::int64_t{1} << 32), InputError);
    EXPECT_THROW(checked_u32(-1), InputError);
}

}  // namespace
}  // namespace vkf::test
