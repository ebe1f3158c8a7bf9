#include "ops/rows/reduce.h"
#include "base/error.h"
#include "op_check.h"

namespace vkf::test {
namespace {

TEST(HostReduceShapes, WhatDoesNotBroadcastIsRefused) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {2, 3, 4}});
    EXPECT_THROW(sum_to(x, {2, 3}), InputError);
    EXPECT_THROW(sum_to(x, {2, 2, 4}), InputError);
    EXPECT_THROW(broadcast_to(x, {4, 3, 2}), InputError);
    EXPECT_THROW(broadcast_to(x, {3, 4}), InputError);
    const auto scale = [&](const char* name, Shape shape) { return graph.input(name, {DType::f32, std::move(shape)}); };
    EXPECT_THROW(column_sum(x, scale("of columns", {4})), InputError);
    EXPECT_THROW(column_sum(x, scale("of positions", {1, 3, 1})), InputError);
    EXPECT_THROW(row_sum(graph.input("i", {DType::i32, {2, 3}})), InputError);
}

}  // namespace
}  // namespace vkf::test
