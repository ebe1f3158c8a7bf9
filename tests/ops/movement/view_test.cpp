#include <array>

#include "base/error.h"
#include "op_check.h"
#include "ops/movement/view.h"

namespace vkf::test {
namespace {

class HostViewShapes : public ::testing::Test {
protected:
    Graph graph;
    Tensor x = graph.input("x", {DType::f32, {4, 6, 8}});
};

TEST_F(HostViewShapes, SlicesAreViewsWhereRowsStayRows) {
    const Tensor columns = slice(x, -1, 2, 3);
    EXPECT_EQ(columns.shape(), (Shape{4, 6, 3}));
    EXPECT_EQ(columns.pitch(), 8);
    EXPECT_EQ(graph.value(columns).offset, 2);
    const Tensor rows = slice(x, 0, 1, 2);
    EXPECT_TRUE(rows.contiguous());
    EXPECT_EQ(graph.value(rows).offset, 48);
    const Tensor token = slice(x, 1, 5, 1);
    EXPECT_EQ(token.shape(), (Shape{4, 1, 8}));
    EXPECT_EQ(token.pitch(), 48);
    EXPECT_EQ(graph.value(token).offset, 40);
    for (const Tensor view : {columns, rows, token}) EXPECT_EQ(graph.value(view).storage, graph.value(x).storage);
}

TEST_F(HostViewShapes, OffsetsOfViewsOfViewsAddUp) {
    const Tensor inner = slice(slice(slice(x, 0, 1, 3), -1, 2, 5), -1, 1, 2);
    EXPECT_EQ(graph.value(inner).offset, 48 + 2 + 1);
    EXPECT_EQ(inner.pitch(), 8);
}

TEST_F(HostViewShapes, ReshapeOfASliceKeepsItsRows) {
    const Tensor rows = reshape(slice(x, -1, 0, 4), {24, 4});
    EXPECT_EQ(graph.value(rows).storage, graph.value(x).storage);
    EXPECT_EQ(rows.pitch(), 8);
}

TEST_F(HostViewShapes, WhatChangesNothingAddsNoNode) {
    EXPECT_EQ(reshape(x, {4, 6, 8}), x);
    EXPECT_EQ(contiguous(x), x);
    EXPECT_EQ(slice(x, 1, 0, 6), x);
    EXPECT_EQ(concat(std::span(&x, 1)), x);
    EXPECT_TRUE(graph.nodes().empty());
}

TEST_F(HostViewShapes, WhatDoesNotFitIsRefused) {
    const std::array<std::int64_t, 2> short_widths{3, 4};
    const std::array<int, 3> twice{0, 0, 1};
    const std::array<int, 2> too_few{0, 1};
    const Tensor other = graph.input("other", {DType::f32, {4, 5, 8}});
    const std::array<Tensor, 2> parts{x, other};
    EXPECT_THROW(reshape(x, {4, 6, 7}), InputError);
    EXPECT_THROW(split(x, short_widths), InputError);
    EXPECT_THROW(slice(x, 0, 2, 3), InputError);
    EXPECT_THROW(slice(x, 0, 0, 0), InputError);
    EXPECT_THROW(slice(x, 3, 0, 1), InputError);
    EXPECT_THROW(permute(x, twice), InputError);
    EXPECT_THROW(permute(x, too_few), InputError);
    EXPECT_THROW(concat(parts), InputError);
}

}  // namespace
}  // namespace vkf::test
