// Products by straight-line code: choice of the kernel, and transpositions.
#include "ops/cpu/unrolled_matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/lower.h"
#include "ops/matmul/gemm_shape.h"
#include "ops/matmul/matmul.h"

namespace vkf::test {
namespace {

TEST(HostUnrolledMatmul, LargeProductsAreUnrolledWhereTheDriverSuitsThat) {
    DeviceTraits device;
    device.subgroup_size = 16;
    device.uniform_loads = true;
    // Terms per launch; 0 if the product is not unrolled.
    const auto terms = [&](std::int64_t m, std::int64_t n, std::int64_t k, bool transpose_b = false) {
        GemmShape shape = size(m, n, k);
        shape.transpose_b = transpose_b;
        const KernelConfig made = best(device, shape);
        return made.kernel == "matmul_unrolled" ? static_cast<int>(made.chunk) : 0;
    };
    EXPECT_EQ(terms(768, 768, 768), 0);
    device.unrolled_products = true;
    EXPECT_EQ(terms(768, 768, 768), 256);
    EXPECT_EQ(terms(768, 384, 128), 128) << "little work: as little code";
    EXPECT_EQ(terms(512, 512, 576), 192) << "equal shares";
    EXPECT_EQ(terms(256, 768, 50257), 256) << "which it has none of: the last launch is a short one";
    EXPECT_EQ(terms(768, 128, 128), 128);
    EXPECT_EQ(terms(500, 128, 128), 0) << "less work";
    EXPECT_EQ(terms(128, 128, 768), 0) << "of each launch";
    EXPECT_EQ(terms(65536, 128, 120), 0) << "short sums";
    EXPECT_EQ(terms(768, 65, 1024), 0) << "half of the tiles would be padding";
    EXPECT_EQ(terms(12, 4096, 1024), 0) << "not one whole tile of transpose.comp";
    EXPECT_EQ(terms(1 << 18, 384, 128), 0) << "too many workgroups for their digits";
    EXPECT_EQ(terms(256, 50257, 768, true), 256);
    EXPECT_EQ(terms(1 << 18, 384, 1024, true), 256) << "of which a few rows of yᵀ at a time have few";
    EXPECT_EQ(terms(8320, 192, 192, true), 192);
    EXPECT_EQ(terms(55, 640, 1024), 128);
    EXPECT_EQ(terms(55, 640, 1024, true), 0) << "transposing takes longer than it saves";
    GemmShape packed = size(768, 768, 768);
    packed.packed_factors = true;
    EXPECT_EQ(best(device, packed).kernel, "matmul");
    device.subgroup_size = 8;
    EXPECT_EQ(terms(768, 768, 768), 0);
}

std::uint32_t number(const Dispatch& dispatch, std::string_view name) {
    return std::get<std::uint32_t>(
        std::ranges::find(dispatch.args, name, [](const auto& arg) { return arg.first; })->second);
}

/// Transpositions of an unrolled product a·bᵀ.
std::vector<Dispatch> transpositions(std::int64_t m, std::int64_t n, std::int64_t k) {
    DeviceTraits device;
    device.subgroup_size = 16;
    device.uniform_loads = device.unrolled_products = true;
    Graph graph;
    const Tensor a = graph.input("a", {DType::f32, {m, k}}), b = graph.input("b", {DType::f32, {n, k}});
    graph.output("y", matmul(a, b, {.transpose_b = true}));
    std::vector<Dispatch> list = lower(graph, live_nodes(graph), graph.nodes().back(), device).dispatches;
    std::erase_if(list, [](const Dispatch& made) { return made.kernel != "transpose"; });
    return list;
}

TEST(HostUnrolledMatmul, WhatIsTransposedIsBOrElseAAndY) {
    const auto rows = [](std::int64_t m, std::int64_t n, std::int64_t k) {
        std::vector<std::uint32_t> list;
        for (const Dispatch& made : transpositions(m, n, k)) list.push_back(number(made, "rows"));
        return list;
    };
    using Rows = std::vector<std::uint32_t>;
    EXPECT_EQ(rows(768, 128, 512), (Rows{128})) << "b is smaller";
    EXPECT_EQ(rows(128, 1536, 576), (Rows{128, 1536})) << "a and y are";
    EXPECT_EQ(rows(2048, 8192, 768).front(), 2048u) << "there is no room for as much of b";
    EXPECT_EQ(rows(64, 2000, 192), (Rows{64, 2000}));
    EXPECT_EQ(rows(70, 512, 512), (Rows{512})) << "half of the tiles of yᵀ would be padding";
}

TEST(HostUnrolledMatmul, NothingThatIsTransposedIsLessThanATile) {
    for (const std::int64_t n : {4097, 5000, 50257}) {
        std::uint32_t rows = 0;
        for (const Dispatch& made : transpositions(65536, n, 1024)) {
            if (number(made, "columns") != 65536) continue;  // does not transpose yᵀ
            EXPECT_EQ(number(made, "first"), rows) << n;
            EXPECT_GE(number(made, "rows"), 16u) << n;
            rows += number(made, "rows");
        }
        EXPECT_EQ(rows, n);
    }
}

}  // namespace
}  // namespace vkf::test
