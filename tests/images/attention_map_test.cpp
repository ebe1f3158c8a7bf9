#include "models/images/drawing/attention_map.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/error.h"
#include "device_fixture.h"
#include "models/images/drawing/drawing.h"
#include "ops/attention/attention.h"
#include "program/program.h"

namespace vkf::test {
namespace {

// Compares the weights with those of attention itself: with k as values, attention computes weights · k.
class DeviceAttentionMap : public ::testing::TestWithParam<bool> {};

TEST_P(DeviceAttentionMap, WeightsAreTheOnesThatAttentionUses) {
    constexpr std::size_t tokens = 7, heads = 3, width = 5, pitch = heads * width;
    const AttentionOptions options{.heads = heads, .scale = GetParam() ? 1.0f : 0.0f, .mask = {.diagonal = GetParam()}};
    Graph graph;
    const TensorType type{DType::f32, {1, tokens, pitch}};
    const Tensor q = graph.input("q", type), k = graph.input("k", type);
    graph.output("o", attention(q, k, k, options));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    std::vector<float> q_values(tokens * pitch), k_values(tokens * pitch);
    for (std::size_t i = 0; i < q_values.size(); ++i) {
        q_values[i] = static_cast<float>(std::sin(1.0 + static_cast<double>(i * i)));
        k_values[i] = static_cast<float>(std::cos(2.0 * static_cast<double>(i * i)));
    }
    program.write("q", q_values);
    program.write("k", k_values);
    program.run();
    const std::vector<float> o = program.read("o");
    const AttentionWeights weights =
        attention_weights(q_values, k_values, heads, tokens, options.scale_for(width), options.mask);
    for (std::size_t i = 0; i < tokens; ++i)
        for (std::size_t d = 0; d < pitch; ++d) {
            double sum = 0;
            for (std::size_t j = 0; j < tokens; ++j)
                sum += weights.row(d / width, i)[j] * static_cast<double>(k_values[j * pitch + d]);
            EXPECT_NEAR(static_cast<double>(o[i * pitch + d]), sum, 1e-6) << i << ' ' << d;
        }
}

INSTANTIATE_TEST_SUITE_P(Masks, DeviceAttentionMap, ::testing::Bool());

TEST(HostAttentionMap, ATokenThatSeesNothingWeighsNothing) {
    const std::array one{2.0f};
    EXPECT_EQ(attention_weights(one, one, 1, 1, 1.0, {.diagonal = true}).values, std::vector{0.0});
    EXPECT_EQ(attention_weights(one, one, 1, 1, 1.0, {}).values, std::vector{1.0});
}

// Two blocks of two heads, against the definition: the class token's row of (½I + ½A₂)(½I + ½A₁).
TEST(HostAttentionMap, RolloutIsTheProductOfTheBlocks) {
    const std::size_t n = 3;
    std::vector<AttentionWeights> blocks;
    for (int block = 0; block < 2; ++block) {
        AttentionWeights weights{2, n, std::vector<double>(2 * n * n)};
        for (std::size_t row = 0; row < 2 * n; ++row)
            for (std::size_t j = 0; j < n; ++j)
                weights.values[row * n + j] =
                    static_cast<double>((row * 5 + j * 3 + static_cast<std::size_t>(block)) % 7) / 21;
        blocks.push_back(weights);
    }
    const auto mixed = [&](std::size_t block, std::size_t i, std::size_t j) {
        const double mean = (blocks[block].row(0, i)[j] + blocks[block].row(1, i)[j]) / 2;
        return 0.5 * mean + (i == j ? 0.5 : 0.0);
    };
    const std::vector<double> found = rollout(blocks);
    ASSERT_EQ(found.size(), n - 1);
    for (std::size_t j = 1; j < n; ++j) {
        double wanted = 0;
        for (std::size_t between = 0; between < n; ++between) wanted += mixed(1, 0, between) * mixed(0, between, j);
        EXPECT_DOUBLE_EQ(found[j - 1], wanted);
    }
}

TEST(HostAttentionMap, AnOverlayIsLightestWhereTheMapIsGreatest) {
    const Image grey(16, 16, {128, 128, 128});
    const Image made = overlay(grey, std::array{0.1, 0.2, 0.9, 0.3});
    EXPECT_EQ(made.width(), 16);
    const auto light = [&](int x, int y) { return lightness(made.at(x, y)); };
    for (const auto& [x, y] : {std::pair{1, 1}, {14, 1}, {14, 14}}) EXPECT_LT(light(x, y) + 10, light(1, 14));
    EXPECT_LT(light(1, 1), light(14, 14));
    const Image even = overlay(grey, std::array{0.5, 0.5, 0.5, 0.5});
    EXPECT_EQ(even.at(0, 0)[0], even.at(15, 15)[0]);
    EXPECT_THROW(overlay(grey, std::array{1.0, 2.0}), InputError);
    EXPECT_THROW(overlay(grey, std::span<const double>()), InputError);
}

}  // namespace
}  // namespace vkf::test
