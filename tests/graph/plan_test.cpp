#include "graph/plan.h"

#include <gtest/gtest.h>

#include <random>

#include "ops/activation.h"
#include "ops/arithmetic.h"
#include "ops/backward.h"
#include "ops/reduce.h"
#include "ops/view.h"

namespace vkf::test {
namespace {

void expect_no_overlap(std::span<const Block> blocks, const Packing& packing) {
    for (std::size_t a = 0; a < blocks.size(); ++a)
        for (std::size_t b = a + 1; b < blocks.size(); ++b) {
            const bool alive_together = blocks[a].first <= blocks[b].last && blocks[b].first <= blocks[a].last;
            const bool share = packing.offsets[a] < packing.offsets[b] + blocks[b].bytes &&
                               packing.offsets[b] < packing.offsets[a] + blocks[a].bytes;
            EXPECT_FALSE(alive_together && share) << "blocks " << a << " and " << b;
        }
}

TEST(HostPlan, ChainNeedsTwoBlocksAtATime) {
    const std::vector<Block> blocks{{100, 0, 1}, {100, 1, 2}, {100, 2, 3}, {100, 3, 4}};
    const Packing packing = pack(blocks);
    expect_no_overlap(blocks, packing);
    EXPECT_EQ(packing.bound, 200);
    EXPECT_EQ(packing.bytes, 200);
}

TEST(HostPlan, NeverOverlapsAndNeverBeatsTheBound) {
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) {
        std::vector<Block> blocks;
        const std::size_t count = 1 + random() % 40;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t first = random() % 30;
            blocks.push_back({static_cast<std::int64_t>(1 + random() % 1000), first, first + random() % 10});
        }
        const Packing packing = pack(blocks);
        expect_no_overlap(blocks, packing);
        EXPECT_GE(packing.bytes, packing.bound);
    }
}

TEST(HostPlan, NoBlockReachesAcrossTheEndOfABuffer) {
    std::mt19937 random(5);
    for (int round = 0; round < 200; ++round) {
        std::vector<Block> blocks;
        const std::size_t count = 1 + random() % 60;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t first = random() % 30;
            blocks.push_back({static_cast<std::int64_t>(1 + random() % 1000), first, first + random() % 20});
        }
        const Packing whole = pack(blocks);
        for (const std::int64_t limit : {std::int64_t{1}, std::int64_t{1000}, std::int64_t{2500}, whole.bytes}) {
            const Packing packing = pack(blocks, limit);
            expect_no_overlap(blocks, packing);
            EXPECT_GE(packing.limit, limit);
            for (std::size_t i = 0; i < count; ++i) {
                EXPECT_EQ(packing.offsets[i] / packing.limit,
                          (packing.offsets[i] + blocks[i].bytes - 1) / packing.limit);
                EXPECT_LE(packing.offsets[i] + blocks[i].bytes, packing.bytes);
            }
            if (limit == whole.bytes) {
                EXPECT_EQ(packing.offsets, whole.offsets) << "one buffer suffices";
            }
        }
    }
}

TEST(HostPlan, ABufferIsAsLargeAsTheLargestTensor) {
    const std::vector<std::int64_t> tensors{256, 4000, 256};
    const Packing packing = pack_beside(tensors, 1024);
    EXPECT_EQ(packing.limit, 4096);  // 4000 bytes, rounded up
    EXPECT_EQ(packing.offsets, (std::vector<std::int64_t>{4096, 0, 4352}));
    EXPECT_EQ(packing.bytes, 4608);
    EXPECT_EQ(pack_beside(tensors).bytes, 4608);
}

TEST(HostPlan, BackwardReusesWhatForwardFreed) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {64, 64}});
    const Tensor w = graph.state("w", {DType::f32, {64, 64}});
    Tensor y = x;
    for (int i = 0; i < 12; ++i) y = activate(mul(y, w), Activation::silu);
    const Tensor loss = row_sum(reshape(y, {1, 64 * 64}));
    graph.output("d", gradients(reshape(loss, {}), std::span(&w, 1))[0]);
    const auto live = live_nodes(graph);
    const Plan made = plan(graph, live, std::vector<std::vector<std::int64_t>>(graph.nodes().size()));
    EXPECT_GT(made.aliased, 0);
    EXPECT_LE(static_cast<double>(made.bytes), 1.1 * static_cast<double>(made.bound));
}

TEST(HostPlan, OnlyWholeValuesAreWrittenOver) {
    Graph graph;
    const Tensor t = graph.input("t", {DType::f32, {8, 4}}), x = graph.input("x", {DType::f32, {8, 4}});
    // The sum is as large as what the row, repeated, lies in.
    graph.output("y", add(t, reshape(slice(scale(x, 2.0f), 0, 0, 1), {4})));
    const Plan made = plan(graph, live_nodes(graph), std::vector<std::vector<std::int64_t>>(graph.nodes().size()));
    EXPECT_EQ(made.aliased, 0);
}

TEST(HostPlan, OutputsStayUntilTheEnd) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {8}});
    const Tensor first = scale(x, 2.0f);
    graph.output("first", first);
    graph.output("last", scale(scale(scale(first, 2.0f), 2.0f), 2.0f));
    const Plan made = plan(graph, live_nodes(graph), std::vector<std::vector<std::int64_t>>(graph.nodes().size()));
    const std::size_t kept = graph.value(first).storage;
    for (std::size_t s = 0; s < made.storage.size(); ++s)
        if (s != kept && made.storage[s] != no_place) {
            EXPECT_NE(made.storage[s], made.storage[kept]);
        }
}

}  // namespace
}  // namespace vkf::test
