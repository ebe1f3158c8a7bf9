#include "models/images/drawing/attention_map.h"

#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "models/images/drawing/drawing.h"

namespace vkf::test {
namespace {

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
