#include "ops/elementwise/arithmetic.h"
#include "base/error.h"
#include "op_check.h"

namespace vkf::test {
namespace {

TEST(HostArithmeticShapes, RefusesShapesThatDoNotBroadcast) {
    Graph graph;
    const Tensor a = graph.input("a", {DType::f32, {2, 3}});
    const Tensor b = graph.input("b", {DType::f32, {2}});
    EXPECT_THROW(add(a, b), InputError);
    const Tensor c = graph.input("c", {DType::f32, {2, 1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1}});
    const Tensor d = graph.input("d", {DType::f32, {3, 3, 3, 3, 3, 3, 3, 3}});
    EXPECT_EQ(add(a, graph.input("e", {DType::f32, {4, 1, 3}})).shape(), (Shape{4, 2, 3}));
    EXPECT_THROW(add(c, graph.input("f", {DType::f32, {3, 1, 3, 3, 1, 3, 3, 1, 3}})), InputError);  // 3 at 2
    EXPECT_THROW(add(graph.input("g", {DType::f32, {1, 2, 1, 2, 1, 2, 1, 2}}),
                     graph.input("h", {DType::f32, {3, 1, 3, 1, 3, 1, 3, 1}})),
                 InputError);  // eight axes
    EXPECT_EQ(add(d, d).shape(), d.shape());
}

}  // namespace
}  // namespace vkf::test
