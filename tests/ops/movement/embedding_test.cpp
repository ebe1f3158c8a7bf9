#include "ops/movement/embedding.h"
#include "base/error.h"
#include "op_check.h"
#include "ops/movement/view.h"

namespace vkf::test {
namespace {

TEST(HostEmbeddingShapes, RefusesWhatIsNoTableOrNoIndex) {
    Graph graph;
    const Tensor flat = graph.input("flat", {DType::f32, {6}});
    const Tensor rows = graph.input("rows", {DType::f32, {2, 3}});
    const Tensor indices = graph.input("indices", {DType::i32, {4}});
    EXPECT_THROW(embedding(flat, indices), InputError);
    EXPECT_THROW(embedding(rows, flat), InputError);
}

}  // namespace
}  // namespace vkf::test
