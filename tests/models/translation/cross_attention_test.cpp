// Weights of cross-attention.

#include "models/translation/cross_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "device_fixture.h"
#include "golden.h"
#include "models/attention/attention_weights.h"
#include "models/files/config_json.h"
#include "models/files/weights.h"
#include "ops/attention/attention.h"
#include "ops/movement/view.h"
#include "program/program.h"
#include "program/state.h"
#include "scratch.h"

namespace vkf::test {
namespace {

/// Models of all kinds, also with room for longer sentences: a program with more room gives the same weights.
TEST(DeviceCrossAttention, HasAShareOfEverySourceTokenInEveryTargetToken) {
    for (const char* name : {"marian-standard", "recurrent-lstm-general", "recurrent-gru-additive"}) {
        const ModelConfig config = read_config_json(golden / name / "config.json");
        const std::vector<std::int32_t> source{3, 5, 2, 0};
        std::vector<std::int32_t> target{4, 2, 6, 7, 0};
        const auto found = [&](std::int64_t source_room, std::int64_t target_room) {
            CrossAttention attention(shared_device(), config, source_room, target_room);
            load_weights(golden / name / "model.safetensors", attention.parameters().list(), attention.state());
            return attention.weights(source, target);
        };
        const std::vector<AlignmentWeights> layers = found(4, 5), roomy = found(9, 8);
        ASSERT_EQ(layers.size(), std::string(name).starts_with("marian") ? 2u : 1u) << name;
        for (std::size_t i = 0; i < layers.size(); ++i) {
            ASSERT_EQ(layers[i].size(), source.size() * target.size());
            for (std::size_t t = 0; t < target.size(); ++t) {
                const auto row = layers[i].begin() + static_cast<std::ptrdiff_t>(t * source.size());
                EXPECT_NEAR(std::accumulate(row, row + 4, 0.0), 1, 1e-5) << name;
                EXPECT_GT(*std::max_element(row, row + 4) - *std::min_element(row, row + 4), 1e-4) << name;
            }
            for (std::size_t k = 0; k < layers[i].size(); ++k) EXPECT_NEAR(roomy[i][k], layers[i][k], 1e-5) << name;
        }
        // A token is written by what was read before it: another first token changes all rows but the first.
        target.front() = 8;
        const std::vector<AlignmentWeights> other = found(4, 5);
        for (std::size_t k = 0; k < source.size(); ++k) EXPECT_EQ(other[0][k], layers[0][k]) << name;
        EXPECT_FALSE(std::equal(other[0].begin() + 4, other[0].begin() + 8, layers[0].begin() + 4)) << name;

        CrossAttention attention(shared_device(), config, 3, 5);
        EXPECT_NE(complaint([&] { attention.weights(source, target); }).find("there is room for 3"), std::string::npos);
    }
}

}  // namespace
}  // namespace vkf::test
