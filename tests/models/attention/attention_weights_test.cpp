// Attention's weights as a tensor, against attention itself.

#include "models/attention/attention_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "device_fixture.h"
#include "ops/movement/view.h"
#include "program/program.h"

namespace vkf::test {
namespace {

struct WeightsCase {
    const char* name;
    std::int64_t queries, keys, heads, kv_heads;
    float scale = 0;
    AttentionMask mask = {};
    bool lengths = false;
};

class DeviceAttentionWeights : public ::testing::TestWithParam<WeightsCase> {};

/// Attention over values that are rows of the identity gives its weights.
TEST_P(DeviceAttentionWeights, AreWhatAttentionReads) {
    constexpr std::int64_t rows = 2, width = 4;
    const auto& [name, queries, keys, heads, kv_heads, scale, mask, has_lengths] = GetParam();
    Graph graph;
    const Tensor q = graph.input("q", {DType::f32, {rows, queries, heads * width}}),
                 k = graph.input("k", {DType::f32, {rows, keys, kv_heads * width}}),
                 v = graph.input("v", {DType::f32, {rows, keys, kv_heads * keys}});
    AttentionOptions options{.heads = heads, .kv_heads = kv_heads, .scale = scale, .mask = mask};
    if (has_lengths) options.mask.key_lengths = graph.input("lengths", {DType::i32, {rows}});
    const Tensor weights = attention_weights(q, k, options);
    ASSERT_EQ(weights.type().shape, (Shape{rows, heads, queries, keys}));
    const int order[] = {0, 2, 1, 3};
    const Tensor read = reshape(attention(q, k, v, options), {rows, queries, heads, keys});
    graph.output("weights", weights);
    graph.output("read", permute(read, order));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    const auto numbers = [](std::int64_t count, float step) {
        std::vector<float> made(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < made.size(); ++i) made[i] = std::sin(step * static_cast<float>(i + 1));
        return made;
    };
    std::vector<float> identity(static_cast<std::size_t>(rows * keys * kv_heads * keys));
    for (std::size_t i = 0; i < identity.size(); ++i) {
        const auto position = static_cast<std::int64_t>(i) / (kv_heads * keys) % keys;
        identity[i] = position == static_cast<std::int64_t>(i) % keys ? 1.0f : 0.0f;
    }
    program.write("q", numbers(rows * queries * heads * width, 1.3f));
    program.write("k", numbers(rows * keys * kv_heads * width, 2.1f));
    program.write("v", identity);
    if (has_lengths) program.write("lengths", std::vector<std::int32_t>{7, 3});
    program.run();
    const std::vector<float> got = program.read("weights"), want = program.read("read");
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6) << i;
}

const WeightsCase weights_cases[]{
    {"lengths", 5, 7, 3, 3, 0, {}, true},
    {"causal_grouped", 6, 6, 4, 2, 0, {.causal = true}},
    {"scaled_without_diagonal", 7, 7, 3, 3, 1, {.diagonal = true}},
    {"row_that_sees_nothing", 1, 1, 1, 1, 1, {.diagonal = true}},
};

INSTANTIATE_TEST_SUITE_P(Cases, DeviceAttentionWeights, ::testing::ValuesIn(weights_cases),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace vkf::test
