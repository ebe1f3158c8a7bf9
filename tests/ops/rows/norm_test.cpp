#include "ops/rows/norm.h"
#include "base/error.h"
#include "op_check.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf::test {
namespace {

constexpr float usual_eps = 1e-5f;

TEST(HostNormShapes, RefusesParametersOfAnotherWidth) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {2, 6}});
    const Tensor weight = graph.input("weight", {DType::f32, {5}});
    EXPECT_THROW(layer_norm(x, weight, {}, usual_eps), InputError);
    EXPECT_THROW(layer_norm(x, {}, weight, usual_eps), InputError);
    EXPECT_THROW(rms_norm(x, weight, usual_eps), InputError);
}

}  // namespace
}  // namespace vkf::test
