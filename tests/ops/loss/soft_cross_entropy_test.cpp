#include <cmath>

#include "base/error.h"
#include "op_check.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/soft_cross_entropy.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

std::vector<Tensor> mean_loss(Inputs x) {
    return {soft_cross_entropy(x[0], x[1])};
}

/// Positive weights of classes, like smoothed and mixed labels.
Operand weights(Shape shape) {
    Operand operand = fixed(std::move(shape));
    operand.spread = 0.1;
    operand.centre = 1.0;
    return operand;
}

std::vector<OpCase> cases() {
    std::vector<OpCase> list;
    for (const std::int64_t width : {2, 3, 10, 16, 17, 100, 127, 129, 1000})
        list.push_back({text("rows of ", width), {normal({7, width}), weights({7, width})}, mean_loss});
    // log Σ exp − x is rounding noise of exactly 0.
    list.push_back({"one class", {normal({5, 1}), weights({5, 1})}, mean_loss});
    list.push_back({"one row", {normal({1, 10}), weights({1, 10})}, mean_loss});
    list.push_back({.name = "many rows",
                    .operands = {normal({2003, 10}), weights({2003, 10})},
                    .build = mean_loss,
                    .finite_differences = false});
    list.push_back({"a batch", {normal({3, 5, 12}), weights({3, 5, 12})}, mean_loss});
    list.push_back({.name = "weights of both signs",
                    .operands = {normal({9, 12}), fixed({9, 12})},
                    .build = mean_loss,
                    .ulps = 64});
    list.push_back({"slices", {padded({9, 12}, 3), weights({9, 12})}, mean_loss});
    list.push_back({.name = "logits by the thousand",
                    .operands = {normal({9, 33}, 30.0, 1e4), weights({9, 33})},
                    .build = mean_loss,
                    .ulps = 64,
                    .finite_differences = false});
    return list;
}

VKF_OP_TABLE(SoftCrossEntropy, cases());

TEST(HostSoftCrossEntropyValue, OneHotWeightsGiveCrossEntropy) {
    Graph graph;
    const Tensor logits = graph.input("logits", {DType::f32, {2, 3}});
    graph.output("soft", soft_cross_entropy(logits, graph.input("weights", {DType::f32, {2, 3}})));
    graph.output("hard", cross_entropy(logits, graph.input("targets", {DType::i32, {2}})));
    const Arrays out = interpret(graph, {{"logits", {{2, 3}, {0.5, -1, 2, 3, 0.25, 1}}},
                                         {"weights", {{2, 3}, {0, 0, 1, 0, 1, 0}}},
                                         {"targets", {{2}, {2, 1}}}});
    EXPECT_NEAR(out.at("soft").at[0], out.at("hard").at[0], 1e-14);
}

TEST(HostSoftCrossEntropyShapes, RefusesTargetsOfAnotherShape) {
    Graph graph;
    const Tensor logits = graph.input("logits", {DType::f32, {2, 5}});
    EXPECT_THROW(soft_cross_entropy(logits, graph.input("narrow", {DType::f32, {2, 4}})), InputError);
    EXPECT_THROW(soft_cross_entropy(logits, graph.input("whole", {DType::i32, {2, 5}})), InputError);
}

}  // namespace
}  // namespace vkf::test
