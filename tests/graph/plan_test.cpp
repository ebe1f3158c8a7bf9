#include "graph/plan.h"

#include <gtest/gtest.h>

#include <random>

#include "ops/backward.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/flatten.h"
#include "ops/movement/view.h"
#include "ops/rows/reduce.h"
#include "passes/elide_concat.h"

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

TEST(HostPlan, JoinedBlocksFollowEachOtherAndEachHasItsOwnTime) {
    // The joined part that is made last takes the place of the block that dies first.
    const std::vector<Block> blocks{{100, 5, 9}, {100, 4, 9, true}, {100, 3, 9, true},
                                    {100, 0, 4}, {100, 1, 3},       {100, 2, 2}};
    const Packing packing = pack(blocks);
    expect_no_overlap(blocks, packing);
    EXPECT_EQ(packing.offsets, (std::vector<std::int64_t>{0, 100, 200, 0, 100, 200}));
    EXPECT_EQ(packing.bytes, packing.bound);

    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        std::vector<Block> many;
        const std::size_t count = 1 + random() % 40;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t first = random() % 30;
            many.push_back({static_cast<std::int64_t>(1 + random() % 1000), first, first + random() % 10,
                            i > 0 && random() % 2 == 0});
        }
        for (const std::int64_t limit : {std::int64_t{1}, no_limit}) {
            const Packing made = pack(many, limit);
            expect_no_overlap(many, made);
            EXPECT_GE(made.bytes, made.bound);
            for (std::size_t i = 0; i < count; ++i) {
                if (many[i].joined) {
                    EXPECT_EQ(made.offsets[i], made.offsets[i - 1] + many[i - 1].bytes);
                    EXPECT_EQ(made.offsets[i] / made.limit, made.offsets[i - 1] / made.limit);
                }
                EXPECT_LE(made.offsets[i] % made.limit + many[i].bytes, made.limit);
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

/// Gradients of a chain of layers, stored in one tensor.
TEST(HostPlan, GradientsInOneTensorTakeTheMemoryOfWhatTheBackwardPassHasFreed) {
    constexpr std::int64_t width = 64, layers = 8;
    Graph graph;
    Tensor y = graph.input("x", {DType::f32, {width, width}});
    std::vector<Tensor> weights;
    std::vector<Shape> shapes(layers, {width, width});
    for (std::int64_t i = 0; i < layers; ++i) {
        weights.push_back(graph.state("w" + std::to_string(i), {DType::f32, shapes[0]}));
        y = mul(activate(y, Activation::silu), weights.back());
    }
    const Tensor loss = reshape(row_sum(reshape(y, {1, width * width})), {});
    const Tensor flat = flatten(gradients(loss, weights), FlatLayout(shapes));
    graph.output("flat", flat);
    elide_concat(graph);
    for (const Tensor& made : graph.nodes().back().in) EXPECT_EQ(graph.value(made).storage, graph.value(flat).storage);
    const Plan planned = plan(graph, live_nodes(graph), std::vector<std::vector<std::int64_t>>(graph.nodes().size()));
    EXPECT_EQ(planned.bytes, planned.bound);
    // All gradients, and two layers' activations, two per layer, with the values passing through; not all activations.
    EXPECT_LE(planned.bytes, (2 * layers + 4) * width * width * 4);
}

/// The sum is stored in the flat tensor, at the place of the term that dies there.
TEST(HostPlan, AnInputMayBeginItsLifeInTheOutputsPlace) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {64}}), t = graph.input("t", {DType::f32, {64}});
    const Tensor term = scale(x, 2.0f);
    const std::vector<Tensor> parts{scale(t, 3.0f), add(term, t)};
    const Tensor flat = flatten(parts, FlatLayout({{64}, {64}}));
    graph.output("flat", flat);
    elide_concat(graph);
    const Plan planned = plan(graph, live_nodes(graph), std::vector<std::vector<std::int64_t>>(graph.nodes().size()));
    EXPECT_EQ(planned.aliased, 1);
    EXPECT_EQ(planned.bytes, 2 * 256);
    EXPECT_EQ(planned.storage[graph.value(term).storage], planned.storage[graph.value(flat).storage] + 256);
}

TEST(HostPlan, OnlyWholeValuesAreWrittenOver) {
    Graph graph;
    const Tensor t = graph.input("t", {DType::f32, {8, 4}}), x = graph.input("x", {DType::f32, {8, 4}});
    // The first sum is as large as the storage that holds its repeated row; the second is only as large as its row.
    graph.output("y", add(t, reshape(slice(scale(x, 2.0f), 0, 0, 1), {4})));
    graph.output("z", add(slice(scale(x, 3.0f), 0, 1, 1), slice(t, 0, 0, 1)));
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
