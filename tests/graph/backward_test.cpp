#include "ops/backward.h"

#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "graph/reference.h"
#include "graph/test_ops.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf::test {
namespace {

/// Has scalars a and b with values 3 and 5; derivatives of small expressions are small integers, exact in double.
class HostBackward : public ::testing::Test {
protected:
    static constexpr double A = 3.0, B = 5.0;

    double value(Tensor tensor) {
        const std::string name = text("value", next_++);
        graph.output(name, tensor);
        return interpret(graph, {{"a", {{1}, {A}}}, {"b", {{1}, {B}}}}).at(name).at.at(0);
    }

    Tensor expanded(std::vector<Tensor> in, Expanded::Definition definition) {
        return add_one(graph, Expanded(1, std::move(definition)), std::move(in));
    }

    Graph graph;
    Tensor a = graph.input("a", {DType::f32, {1}});
    Tensor b = graph.input("b", {DType::f32, {1}});
    std::array<Tensor, 2> both{a, b};

private:
    int next_ = 0;
};

TEST_F(HostBackward, UsesOfATensorAddUp) {
    const Tensor y = add(mul(mul(a, a), b), a);  // y = a²b + a
    const auto d = gradients(y, both);
    EXPECT_EQ(value(d[0]), 2 * A * B + 1);
    EXPECT_EQ(value(d[1]), A * A);
}

TEST_F(HostBackward, WithoutAPathThereIsNoGradient) {
    const std::array<Tensor, 3> wrt{a, b, Tensor()};
    const auto d = gradients(mul(a, a), wrt);
    EXPECT_TRUE(d[0]);
    EXPECT_FALSE(d[1]);
    EXPECT_FALSE(d[2]);
}

TEST_F(HostBackward, GradientsOfIntermediateTensorsStopThere) {
    const Tensor square = mul(a, a);
    const std::array<Tensor, 2> wrt{square, a};
    const auto d = gradients(mul(square, b), wrt);
    EXPECT_EQ(value(d[0]), B);
    EXPECT_EQ(value(d[1]), 2 * A * B);
}

TEST_F(HostBackward, AnExpansionIsItsOwnDerivative) {
    const Tensor cube = expanded({a}, [](auto in) { return std::vector{mul(mul(in[0], in[0]), in[0])}; });
    EXPECT_EQ(value(cube), A * A * A);
    EXPECT_EQ(value(gradients(cube, both)[0]), 3 * A * A);
}

TEST_F(HostBackward, ExpansionsMayHoldExpansions) {
    const Tensor fourth = expanded({a}, [this](auto in) {
        const Tensor square = expanded({in[0]}, [](auto x) { return std::vector{mul(x[0], x[0])}; });
        return std::vector{mul(square, square)};
    });
    EXPECT_EQ(value(gradients(fourth, both)[0]), 4 * A * A * A);
}

TEST_F(HostBackward, AnExpansionsInputMayDependOnAnother) {
    const Tensor square = mul(a, a);
    const Tensor y = expanded({a, square}, [](auto in) { return std::vector{mul(in[0], in[1])}; });
    const std::array<Tensor, 2> wrt{square, a};
    const auto d = gradients(y, wrt);
    EXPECT_EQ(value(d[0]), A);
    EXPECT_EQ(value(d[1]), 3 * A * A);
}

TEST_F(HostBackward, AnExpansionMayTakeOneTensorTwiceAndReturnItsInput) {
    const auto outputs = graph.add(std::make_shared<const Expanded>(2,
                                                                    [](auto in) {
                                                                        return std::vector{mul(in[0], in[1]), in[0]};
                                                                    }),
                                   {a, a});
    EXPECT_EQ(value(gradients(add(outputs[0], outputs[1]), both)[0]), 2 * A + 1);
}

TEST_F(HostBackward, AnExpansionMayReturnOneTensorTwice) {
    const auto outputs = graph.add(std::make_shared<const Expanded>(2,
                                                                    [](auto in) {
                                                                        const Tensor y = mul(in[0], in[0]);
                                                                        return std::vector{y, y};
                                                                    }),
                                   {a});
    EXPECT_EQ(value(gradients(add(outputs[0], outputs[1]), both)[0]), 4 * A);
}

TEST_F(HostBackward, AMissingDerivativeIsAnErrorThatNamesScopeAndOp) {
    graph.scope = "h.1.attn";
    const Tensor y = mul(add_one(graph, Opaque(), {a}), b);
    graph.scope.clear();
    EXPECT_EQ(message([&] { gradients(y, both); }), "h.1.attn: opaque has no derivative");
}

TEST_F(HostBackward, AMissingDerivativeThatNobodyNeedsIsNone) {
    const Tensor y = mul(add_one(graph, Opaque(), {a}), b);
    const Tensor z = expanded({y, b}, [this](auto in) {  // nor does an op inside an expansion
        return std::vector{mul(add_one(graph, Opaque(), {in[0]}), in[1])};
    });
    EXPECT_EQ(value(gradients(y, std::span(&b, 1))[0]), A);
    const Tensor opaque = add_one(graph, Opaque(), {a});
    const Tensor w =
        expanded({opaque, b}, [this](auto in) { return std::vector{mul(add_one(graph, Opaque(), {in[0]}), in[1])}; });
    EXPECT_EQ(value(gradients(w, std::span(&b, 1))[0]), A);
    EXPECT_THROW(gradients(z, std::span(&b, 1)), InputError);  // throws because y depends on b
}

TEST_F(HostBackward, SeveralOutputsAreWeightedByTheirGradients) {
    const Tensor square = mul(a, a), product = mul(a, b);
    const Tensor two = fill(graph, {1}, 2.0f), seven = fill(graph, {1}, 7.0f);
    const std::array<Tensor, 3> outputs{square, product, square}, weights{two, seven, two};
    const auto d = gradients(outputs, weights, both);
    EXPECT_EQ(value(d[0]), 2 * (2 * A) + 7 * B + 2 * (2 * A));
    EXPECT_EQ(value(d[1]), 7 * A);
}

TEST_F(HostBackward, TheLossIsAScalarAndGradientsHaveTheirOutputsShapes) {
    const Tensor x = graph.input("x", {DType::f32, {2}});
    EXPECT_EQ(message([&] { gradients(x, both); }), "gradients: the loss has shape [2], wanted a scalar");
    const std::array<Tensor, 1> outputs{x}, wrong{a};
    EXPECT_THROW(gradients(outputs, wrong, outputs), InputError);
    EXPECT_THROW(gradients(outputs, both, outputs), InputError);
}

TEST_F(HostBackward, GradientNodesStandInTheScopeOfTheirOp) {
    graph.scope = "ln_f";
    const Tensor y = mul(a, b);
    graph.scope = "loss";
    const std::size_t forward = graph.nodes().size();
    gradients(mul(y, y), both);
    EXPECT_EQ(graph.scope, "loss");
    EXPECT_EQ(graph.nodes().back().scope, "ln_f");
    EXPECT_GT(graph.nodes().size(), forward);
}

// Two regions, each y = (x·b)·x. Values inside them are computed again after the forward pass, only from the values
// that the regions read.
TEST_F(HostBackward, RegionsAreComputedAgainInsteadOfKept) {
    std::vector<bool> inside(graph.values().size());
    Tensor y = a;
    for (int i = 0; i < 2; ++i) {
        const std::size_t first = graph.nodes().size();
        const Tensor inner = mul(y, b);
        y = mul(inner, y);
        graph.mark_region(first);
        inside.resize(graph.values().size());
        inside[inner.id()] = true;
    }
    const std::size_t forward = graph.nodes().size();
    const auto again = gradients(y, both, {.recompute = true});
    inside.resize(graph.values().size());
    for (std::size_t i = forward; i < graph.nodes().size(); ++i)
        for (const Tensor& in : graph.nodes()[i].in) EXPECT_FALSE(inside[in.id()]) << "node " << i;
    const auto kept = gradients(y, both);
    EXPECT_EQ(value(again[0]), 4 * A * A * A * B * B * B);  // derivative of a⁴b³
    EXPECT_EQ(value(again[1]), 3 * A * A * A * A * B * B);
    EXPECT_EQ(value(kept[0]), value(again[0]));
    EXPECT_EQ(value(kept[1]), value(again[1]));
}

TEST_F(HostBackward, WhatChangesAStateIsNotComputedAgain) {
    const Tensor w = graph.state("w", {DType::f32, {1}});
    graph.scope = "cache";
    const Tensor y = mul(add_one(graph, AddInto(), {w, b}), a);
    graph.mark_region(0);
    EXPECT_EQ(message([&] { gradients(y, both, {.recompute = true}); }),
              "cache: accumulate changes a state: not to be recomputed");
}

TEST_F(HostBackward, RegionsDoNotOverlap) {
    mul(a, b);
    mul(a, b);
    graph.mark_region(1);
    EXPECT_EQ(message([&] { graph.mark_region(0); }), "a region from node 0 overlaps another");
}

TEST_F(HostBackward, SavedTensorsMustNotHaveBeenOverwritten) {
    const Tensor w = graph.state("w", {DType::f32, {1}});
    const Tensor y = mul(w, w);
    add_one(graph, AddInto(), {w, a});
    EXPECT_EQ(message([&] { gradients(y, std::span(&w, 1)); }), "mul: reads 'w' after it was overwritten");
}

}  // namespace
}  // namespace vkf::test
