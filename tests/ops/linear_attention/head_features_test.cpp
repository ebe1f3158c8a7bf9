#include "ops/linear_attention/head_features.h"

#include <cmath>

#include "base/error.h"
#include "op_check.h"
#include "ops/linear_attention/head_quotients.h"
#include "ops/movement/view.h"

namespace vkf::test {
namespace {

constexpr HeadFeatureMap elu = HeadFeatureMap::elu;

TEST(HostHeadFeaturesShapes, RefusesWhatDoesNotFit) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {2, 3, 12}}), floats = graph.input("floats", {DType::f32, {2}}),
                 three = graph.input("three", {DType::i32, {3}});
    EXPECT_NO_THROW(head_features(x, elu, {.heads = 3, .chunk = 3}));
    EXPECT_THROW(head_features(x, elu, {.heads = 5, .chunk = 3}), InputError);
    EXPECT_THROW(head_features(x, elu, {.heads = 3, .chunk = 2}), InputError);
    EXPECT_THROW(head_features(x, elu, {.heads = 3, .chunk = 2, .chunks = 2, .keys = 5}), InputError);
    EXPECT_THROW(head_features(reshape(x, {6, 12}), elu, {.heads = 3, .chunk = 3}), InputError);
    EXPECT_THROW(head_features(x, elu, {.heads = 3, .chunk = 3, .lengths = floats}), InputError);
    EXPECT_THROW(head_features(x, elu, {.heads = 3, .chunk = 3, .lengths = three}), InputError);
}

TEST(HostHeadQuotientsShapes, RefusesWhatDoesNotFit) {
    Graph graph;
    const Tensor y = graph.input("y", {DType::f32, {6, 3, 8}});
    EXPECT_NO_THROW(head_quotients(y, 2, 3, 7, {.heads = 3, .chunk = 3}, 0.0f));
    EXPECT_THROW(head_quotients(y, 2, 3, 8, {.heads = 3, .chunk = 3}, 0.0f), InputError);
    EXPECT_THROW(head_quotients(y, 3, 3, 7, {.heads = 3, .chunk = 3}, 0.0f), InputError);
}

}  // namespace
}  // namespace vkf::test
