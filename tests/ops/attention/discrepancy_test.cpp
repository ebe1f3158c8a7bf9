#include <array>

#include "base/error.h"
#include "op_check.h"
#include "ops/attention/discrepancy.h"
#include "ops/movement/repeat_heads.h"
#include "ops/movement/view.h"

namespace vkf::test {
namespace {

TEST(HostDiscrepancyShapes, RefusesDifferentRows) {
    Graph graph;
    const Tensor o = graph.input("o", {DType::f32, {2, 6}});
    EXPECT_THROW(discrepancy(o, graph.input("v", {DType::f32, {3, 6}}), 1.0f, GammaOn::sum), InputError);
    EXPECT_THROW(discrepancy(o, graph.input("w", {DType::f32, {2, 4}}), 1.0f, GammaOn::sum, 2), InputError);
}

}  // namespace
}  // namespace vkf::test
