#include "ops/elementwise/glu.h"

#include "base/error.h"
#include "op_check.h"

namespace vkf::test {
namespace {

TEST(HostGlu, RefusesDifferentShapes) {
    Graph graph;
    const Tensor gate = graph.input("gate", {DType::f32, {2, 6}});
    EXPECT_THROW(glu(gate, graph.input("up", {DType::f32, {2, 7}}), Activation::silu), InputError);
    EXPECT_THROW(glu(gate, graph.input("ids", {DType::i32, {2, 6}}), Activation::silu), InputError);
}

}  // namespace
}  // namespace vkf::test
