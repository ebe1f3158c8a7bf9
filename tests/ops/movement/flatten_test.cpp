#include "ops/movement/flatten.h"

#include "base/error.h"
#include "op_check.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

/// A layout with gaps of every kind: none, one element, nearly all of 64, all but one.
FlatLayout layout() {
    return FlatLayout({{2, 32}, {7, 9}, {65}, {1}, {300, 50}});
}

std::vector<Operand> operands() {
    std::vector<Operand> list;
    for (const Shape& shape : layout().shapes) list.push_back(normal(shape));
    return list;
}

const std::vector<OpCase> flatten_cases{
    {"flatten", operands(), [](Inputs in) { return std::vector{flatten(in, layout())}; }, 16, 64, false},
    {"one that is absent",
     {normal({7, 9}), normal({3})},
     [](Inputs in) {
         return std::vector{flatten(std::vector{in[0], Tensor(), in[1]}, FlatLayout({{7, 9}, {70}, {3}}))};
     }},
    {"slices",
     {padded({7, 9}, 3), padded({5, 4}, 2)},
     [](Inputs in) {
         return std::vector{flatten(in, FlatLayout({{7, 9}, {5, 4}}))};
     }},
    {"one twice",
     {normal({7, 9})},
     [](Inputs in) {
         return std::vector{flatten(std::vector{in[0], in[0]}, FlatLayout({{7, 9}, {7, 9}}))};
     }},
    {"unflatten", {normal({layout().elements})}, [](Inputs in) { return unflatten(in[0], layout()); }, 16, 64, false},
    {"only one of an unflattened",
     {normal({layout().elements})},
     [](Inputs in) { return std::vector{unflatten(in[0], layout())[2]}; },
     16,
     64,
     false},
    {"there and back", operands(), [](Inputs in) { return unflatten(flatten(in, layout()), layout()); }, 16, 64, false},
};
VKF_OP_TABLE(Flatten, flatten_cases);

TEST(HostFlatten, EachBeginsWhereMemoryOfItsOwnWould) {
    EXPECT_EQ(layout().offsets, (std::vector<std::int64_t>{0, 64, 128, 256, 320}));
    EXPECT_EQ(layout().elements, 320 + 15040);
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
