#include "ops/rows/softmax.h"
#include "base/error.h"
#include "op_check.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf::test {
namespace {

TEST(HostSoftmaxShapes, RefusesWhatItCannotTake) {
    Graph graph;
    EXPECT_THROW(softmax(graph.input("x", {DType::i32, {2, 3}})), InputError);
    const Tensor y = graph.input("y", {DType::f32, {2, 3}}), lengths = graph.input("lengths", {DType::i32, {1}});
    EXPECT_THROW(softmax(y, {.window_left = -1}), InputError);
    EXPECT_NO_THROW(softmax(y, {.key_lengths = lengths}));
    EXPECT_THROW(softmax(y, {.query_lengths = lengths}), InputError);
    EXPECT_THROW(softmax(y, {.key_lengths = graph.input("three", {DType::i32, {3}})}), InputError);
    EXPECT_THROW(softmax(graph.input("z", {DType::f32, {3}}), {.key_lengths = lengths}), InputError);
}

}  // namespace
}  // namespace vkf::test
