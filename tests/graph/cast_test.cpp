// Casts: 16-bit copies of weights that products read.
#include "ops/elementwise/cast.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/backward.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/loss/head_loss.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/embedding.h"
#include "ops/optimizer/optimize.h"
#include "passes/run_passes.h"

namespace vkf::test {
namespace {

std::vector<std::string> names(const Graph& graph) {
    std::vector<std::string> list;
    for (const Node& node : graph.nodes()) list.emplace_back(node.op->name());
    return list;
}

TEST(HostCast, AWeightIsCastOnceBeforeItsFirstProduct) {
    Graph graph;
    const Tensor x = scale(graph.input("x", {DType::f32, {8, 6}}), 2.0f), w = graph.state("w", {DType::f32, {6, 4}});
    const Tensor y = matmul(x, w, {});
    const Tensor back = matmul(y, w, {.transpose_b = true});
    graph.output("y", scale(back, 1.0f));
    cast_weights(graph);
    graph.activations = Format::bf16;
    run_passes(graph, only_storage_types);
    EXPECT_EQ(names(graph), (std::vector<std::string>{"scale", "cast", "matmul", "matmul", "scale"}));
    const Tensor copy = graph.nodes()[1].out[0];
    EXPECT_EQ(graph.nodes()[1].in[0], w);
    EXPECT_EQ(graph.nodes()[2].in[1], copy);
    EXPECT_EQ(graph.nodes()[3].in[1], copy);
    EXPECT_EQ(copy.format(), Format::bf16);
    EXPECT_EQ(w.format(), Format::f32);
}

TEST(HostCast, OnlyStatesThatAreFactorsAndFallIntoPairs) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {8, 6}}), odd = graph.state("odd", {DType::f32, {6, 3}});
    const Tensor bias = graph.state("bias", {DType::f32, {6}});
    graph.output("y", matmul(add(x, bias), odd, {}));
    cast_weights(graph);
    EXPECT_EQ(names(graph), (std::vector<std::string>{"add", "matmul"}));
}

TEST(HostCast, AFactorThatIsKeptInFp32IsCastOnceForAllProducts) {
    for (const bool half_factors : {false, true}) {
        Graph graph;
        const Tensor x = graph.input("x", {DType::f32, {8, 6}}), w = graph.state("w", {DType::f32, {6, 6}});
        const Tensor stream = add(x, x);  // stored in fp32
        graph.output("y", matmul(stream, w));
        graph.output("z", matmul(stream, w, {.transpose_b = true}));
        graph.output("sum", scale(stream, 1.0f));
        graph.activations = Format::bf16;
        graph.half_factors = half_factors;
        run_passes(graph, only_storage_types);
        EXPECT_EQ(stream.format(), Format::f32);
        if (!half_factors) {
            EXPECT_EQ(names(graph), (std::vector<std::string>{"add", "matmul", "matmul", "scale"}));
            continue;
        }
        ASSERT_EQ(names(graph), (std::vector<std::string>{"add", "cast", "matmul", "matmul", "scale"}));
        const Tensor copy = graph.nodes()[1].out[0];
        EXPECT_EQ(copy.format(), Format::bf16);
        EXPECT_EQ(graph.nodes()[1].in[0], stream);
        EXPECT_EQ(graph.nodes()[2].in[0], copy);
        EXPECT_EQ(graph.nodes()[3].in[0], copy);
        EXPECT_EQ(graph.nodes()[4].in[0], stream);
    }
}

TEST(HostCast, AHeadReadsACopyOfItsTableAndUpdatesMoveTheTableItself) {
    Graph graph;
    const Tensor tokens = graph.input("tokens", {DType::i32, {5}}), targets = graph.input("targets", {DType::i32, {5}});
    const Tensor table = graph.state("table", {DType::f32, {9, 4}});
    const Tensor loss = head_loss(embedding(table, tokens), table, targets, {});
    graph.output("loss", loss);
    const std::vector d = gradients(loss, std::span(&table, 1), {});
    cast_weights(graph);
    vkf::accumulate(std::span(&table, 1), d, -0.1f);
    graph.activations = Format::bf16;
    run_passes(graph, only_storage_types);
    EXPECT_EQ(names(graph)[0], "embedding");
    EXPECT_EQ(names(graph)[1], "cast");
    EXPECT_EQ(graph.nodes()[0].in[0], table);
    EXPECT_EQ(graph.nodes()[2].in[1], graph.nodes()[1].out[0]);
    EXPECT_EQ(graph.nodes()[1].out[0].format(), Format::bf16);
    EXPECT_EQ(graph.storage(table).version, 1u);
}

TEST(HostCast, RegionsKeepTheirNodes) {
    Graph graph;
    Tensor x = graph.input("x", {DType::f32, {8, 6}});
    for (const char* name : {"first", "second"}) {
        const std::size_t first = graph.nodes().size();
        x = activate(matmul(x, graph.state(name, {DType::f32, {6, 6}}), {}), Activation::relu);
        graph.mark_region(first);
    }
    graph.output("y", x);
    cast_weights(graph);
    ASSERT_EQ(names(graph), (std::vector<std::string>{"cast", "matmul", "relu", "cast", "matmul", "relu"}));
    ASSERT_EQ(graph.regions().size(), 2u);
    EXPECT_EQ(graph.regions()[0].first, 1u);
    EXPECT_EQ(graph.regions()[0].end, 3u);
    EXPECT_EQ(graph.regions()[1].first, 4u);
    EXPECT_EQ(graph.regions()[1].end, 6u);
}

}  // namespace
}  // namespace vkf::test
