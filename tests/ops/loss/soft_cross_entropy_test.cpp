#include <cmath>

#include "base/error.h"
#include "op_check.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/soft_cross_entropy.h"

namespace vkf::test {
namespace {

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
