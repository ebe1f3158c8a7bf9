#include <cmath>

#include "base/error.h"
#include "op_check.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/loss/cross_entropy.h"
#include "ops/movement/view.h"

namespace vkf::test {
namespace {

TEST(HostCrossEntropyShapes, RefusesTargetsThatAreNotOnePerRow) {
    Graph graph;
    const Tensor logits = graph.input("logits", {DType::f32, {2, 3, 5}});
    EXPECT_THROW(cross_entropy(logits, graph.input("flat", {DType::i32, {6}})), InputError);
    EXPECT_THROW(cross_entropy(logits, graph.input("wide", {DType::i32, {2, 3, 1}})), InputError);
    EXPECT_THROW(cross_entropy(logits, graph.input("real", {DType::f32, {2, 3}})), InputError);
}

}  // namespace
}  // namespace vkf::test
