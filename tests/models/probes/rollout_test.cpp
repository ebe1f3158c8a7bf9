#include "models/probes/rollout.h"

#include <gtest/gtest.h>

namespace vkf::test {
namespace {

// Two blocks of two heads, against the definition: a token's row of (½I + ½A₂)(½I + ½A₁).
TEST(HostRollout, IsTheProductOfTheBlocks) {
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
    for (std::size_t token = 0; token < n; ++token) {
        const std::vector<double> found = rollout(blocks, token);
        ASSERT_EQ(found.size(), n);
        for (std::size_t j = 0; j < n; ++j) {
            double wanted = 0;
            for (std::size_t between = 0; between < n; ++between)
                wanted += mixed(1, token, between) * mixed(0, between, j);
            EXPECT_DOUBLE_EQ(found[j], wanted);
        }
    }
}

}  // namespace
}  // namespace vkf::test
