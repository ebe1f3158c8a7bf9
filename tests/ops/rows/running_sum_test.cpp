#include "ops/rows/running_sum.h"

#include "base/error.h"
#include "op_check.h"

namespace vkf::test {
namespace {

TEST(HostRunningSumShapes, RefusesWhatDoesNotFit) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {2, 3, 4}}), sum = graph.input("sum", {DType::f32, {2, 4}});
    EXPECT_NO_THROW(running_sums(x, sum));
    EXPECT_THROW(running_sums(sum), InputError);
    EXPECT_THROW(running_sums(x, graph.input("wide", {DType::f32, {2, 5}})), InputError);
    EXPECT_THROW(running_sums(x, graph.input("numbers", {DType::i32, {2, 4}})), InputError);
}

}  // namespace
}  // namespace vkf::test
