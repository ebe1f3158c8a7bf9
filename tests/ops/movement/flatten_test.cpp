#include "ops/movement/flatten.h"

#include "base/error.h"
#include "op_check.h"

namespace vkf::test {
namespace {

TEST(HostFlatten, EachBeginsWhereMemoryOfItsOwnWould) {
    const FlatLayout layout({{2, 32}, {7, 9}, {65}, {1}, {300, 50}});
    EXPECT_EQ(layout.offsets, (std::vector<std::int64_t>{0, 64, 128, 256, 320}));
    EXPECT_EQ(layout.elements, 320 + 15040);
}

TEST(HostFlatten, OtherShapesAreRefused) {
    Graph graph;
    const std::vector<Tensor> in{graph.input("x", {DType::f32, {7, 9}})};
    EXPECT_THROW(flatten(in, FlatLayout({{9, 7}})), InputError);
    EXPECT_THROW(flatten(in, FlatLayout({{7, 9}, {3}})), InputError);
    EXPECT_THROW(flatten(std::vector{Tensor()}, FlatLayout(std::vector<Shape>{Shape{3}})), InputError);
    EXPECT_THROW(unflatten(in[0], FlatLayout({{7, 9}})), InputError);
}

}  // namespace
}  // namespace vkf::test
