#include "models/attention/rope_scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace vkf::test {
namespace {

using Type = RopeScaling::Type;

TEST(HostRopeScaling, FrequenciesArePowersOfTheta) {
    const std::vector<double> all = rope_frequencies(8, 1e4);
    ASSERT_EQ(all.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(all[i], std::pow(0.1, i));
}

TEST(HostRopeScaling, LinearDividesAll) {
    const std::vector<double> plain = rope_frequencies(64, 5e5);
    const std::vector<double> scaled = rope_frequencies(64, 5e5, {.type = Type::linear, .factor = 4});
    for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_DOUBLE_EQ(scaled[i], plain[i] / 4);
}

/// Llama 3.1's rule with its numbers: short waves stay, long ones become eight times as long, and between 2048 and 8192
/// positions the frequency is interpolated by the number of waves in 8192 positions.
TEST(HostRopeScaling, Llama3LeavesShortWavesAlone) {
    const RopeScaling scaling{.type = Type::llama3, .factor = 8};
    const std::vector<double> plain = rope_frequencies(128, 5e5), scaled = rope_frequencies(128, 5e5, scaling);
    int kept = 0, stretched = 0, between = 0;
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const double wave = 2 * std::numbers::pi / plain[i];
        if (wave < 8192.0 / 4) {
            EXPECT_DOUBLE_EQ(scaled[i], plain[i]) << i;
            ++kept;
        } else if (wave > 8192.0) {
            EXPECT_DOUBLE_EQ(scaled[i], plain[i] / 8) << i;
            ++stretched;
        } else {
            const double smooth = (8192.0 / wave - 1) / 3;
            EXPECT_NEAR(scaled[i], (1 - smooth) * plain[i] / 8 + smooth * plain[i], 1e-15) << i;
            ++between;
        }
    }
    EXPECT_GT(kept, 0);
    EXPECT_GT(stretched, 0);
    EXPECT_GT(between, 0);
}

TEST(HostRopeScaling, RefusesFactorsInTheWrongOrder) {
    EXPECT_NO_THROW(check(RopeScaling{.type = Type::llama3}));
    EXPECT_THROW(check(RopeScaling{.type = Type::llama3, .low_freq_factor = 4}), InputError);
}

}  // namespace
}  // namespace vkf::test
