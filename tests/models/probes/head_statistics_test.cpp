// Roles and numbers of heads from maps made by hand, and spectra against PyTorch's in float64 (tests/golden/probes).

#include "models/probes/head_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "golden.h"

namespace vkf::test {
namespace {

constexpr std::size_t N = 20;

/// A map in which query t gives 0.6 of its weight to a key, and the rest evenly to all.
std::vector<float> map_of(const std::function<std::size_t(std::size_t)>& key_of) {
    std::vector<float> weights(N * N, 0.4f / N);
    for (std::size_t t = 0; t < N; ++t) weights[t * N + key_of(t)] += 0.6f;
    return weights;
}

HeadStatistics statistics_of(const std::vector<float>& weights, std::vector<std::int64_t> uses = {}) {
    HeadStatistics made;
    made.add({N, N, weights, std::vector<bool>(N, true), std::move(uses)});
    return made;
}

TEST(HostHeadStatistics, NameWhatQueriesLookAt) {
    EXPECT_EQ(statistics_of(map_of([](std::size_t t) { return t; })).role().name, "diagonal");
    const HeadRole previous = statistics_of(map_of([](std::size_t t) { return t == 0 ? 0 : t - 1; })).role();
    EXPECT_EQ(previous.name, "previous token");
    EXPECT_DOUBLE_EQ(previous.share, 0.95);  // the first query has no previous token
    EXPECT_EQ(statistics_of(map_of([](std::size_t t) { return std::min(t + 1, N - 1); })).role().name, "next token");
    EXPECT_EQ(statistics_of(map_of([](std::size_t t) { return t < 2 ? t + 17 : t - 2; })).role().name, "offset -2");
    EXPECT_EQ(statistics_of(map_of([](std::size_t t) { return t > 17 ? 0 : t + 2; })).role().name, "offset +2");
    const HeadRole one = statistics_of(map_of([](std::size_t t) { return t < 19 ? 7 : 3; })).role();
    EXPECT_EQ(one.name, "one token");
    EXPECT_DOUBLE_EQ(one.share, 0.95);
    EXPECT_EQ(statistics_of(map_of([](std::size_t t) { return t * 7 % N; })).role().name, "");
}

TEST(HostHeadStatistics, NeedNineTenthsOfTheQueries) {
    const auto diagonal_of = [](std::size_t last) {
        return statistics_of(map_of([=](std::size_t t) { return t < last ? t : (t * 7 + 3) % N; })).role().name;
    };
    EXPECT_EQ(diagonal_of(18), "diagonal");
    EXPECT_EQ(diagonal_of(17), "");
}

/// Each half of the queries looks at one of two keys; only the rarest of those with weight counts.
TEST(HostHeadStatistics, KnowRareTokens) {
    std::vector<std::int64_t> uses(N, 100);
    uses[4] = uses[9] = 2;
    uses[15] = 1;
    std::vector<float> weights = map_of([](std::size_t t) { return t % 2 == 0 ? 4 : 9; });
    EXPECT_EQ(statistics_of(weights, uses).role().name, "");  // the token at 15 is rarer
    for (std::size_t t = 0; t < N; ++t) weights[t * N + 15] = 0;
    const HeadRole rare = statistics_of(weights, uses).role();
    EXPECT_EQ(rare.name, "rare token");
    EXPECT_DOUBLE_EQ(rare.share, 1);
    EXPECT_EQ(statistics_of(weights).role().name, "");  // nothing is known of the tokens
}

TEST(HostHeadStatistics, LeavePaddingOut) {
    std::vector<float> weights = map_of([](std::size_t t) { return t < 10 ? t : 0; });
    std::vector<bool> counted(N, false);
    for (std::size_t t = 0; t < 10; ++t) counted[t] = true;
    HeadStatistics head;
    head.add({N, N, weights, counted});
    EXPECT_EQ(head.role().name, "diagonal");
    EXPECT_DOUBLE_EQ(head.role().share, 1);
    EXPECT_EQ(head.spectrum().size(), 10u);
    HeadStatistics none;
    none.add({N, N, weights, std::vector<bool>(N, false)});
    EXPECT_TRUE(none.empty());
    EXPECT_TRUE(none.spectrum().empty());
    EXPECT_EQ(none.rank(), 0);
}

TEST(HostHeadStatistics, AreMeansOverQueries) {
    std::vector<float> weights(N * N, 0.0f);
    for (std::size_t t = 0; t < N; ++t) weights[t * N + t] = 1;
    HeadStatistics head = statistics_of(weights);
    EXPECT_DOUBLE_EQ(head.confidence(), 1);
    EXPECT_DOUBLE_EQ(head.entropy(), 0);
    EXPECT_EQ(head.rank(), 18);  // of an identity, each singular value has the same share
    const std::vector<float> even(N * N, 1.0f / N);
    head.add({N, N, even, std::vector<bool>(N, true)});
    EXPECT_NEAR(head.confidence(), (1 + 1.0 / N) / 2, 1e-7);
    EXPECT_NEAR(head.entropy(), std::log(N) / 2, 1e-6);
    const std::vector<double> spectrum = head.spectrum();  // of a map of rank 1, the first has all
    ASSERT_EQ(spectrum.size(), N);
    EXPECT_NEAR(spectrum[0], (1.0 / N + 1) / 2, 1e-7);
    EXPECT_NEAR(spectrum[N - 1], 1, 1e-12);
}

class HostHeadSpectra : public ::testing::TestWithParam<std::string> {};

TEST_P(HostHeadSpectra, EqualPyTorchs) {
    const Safetensors file = Safetensors::open(golden / "probes" / (GetParam() + ".safetensors"));
    int layers = 0;
    for (const StoredTensor& stored : file.tensors()) {
        if (!stored.name.starts_with("spectrum.")) continue;
        ++layers;
        const std::string weights_name = "tap." + stored.name.substr(9) + ".attention_weights";
        const std::vector<float> weights = file.read_f32(weights_name), wanted = file.read_f32(stored.name);
        const auto& shape = file.at(weights_name).shape;  // [B, M, T, S]
        const auto rows = static_cast<std::size_t>(shape[0]), heads = static_cast<std::size_t>(shape[1]),
                   queries = static_cast<std::size_t>(shape[2]), keys = static_cast<std::size_t>(shape[3]);
        for (std::size_t h = 0; h < heads; ++h) {
            HeadStatistics head;
            for (std::size_t row = 0; row < rows; ++row)
                head.add({queries, keys, std::span(weights).subspan((row * heads + h) * queries * keys, queries * keys),
                          std::vector<bool>(queries, true)});
            const std::vector<double> spectrum = head.spectrum();
            ASSERT_EQ(spectrum.size() * heads, wanted.size());
            for (std::size_t k = 0; k < spectrum.size(); ++k)
                EXPECT_NEAR(spectrum[k], static_cast<double>(wanted[h * spectrum.size() + k]), 2e-6)
                    << stored.name << " head " << h << ", " << k;
        }
    }
    EXPECT_EQ(layers, 2);
}

INSTANTIATE_TEST_SUITE_P(Golden, HostHeadSpectra,
                         ::testing::Values("standard", "belief-star", "llama-belief", "bert-belief-star"), golden_id);

}  // namespace
}  // namespace vkf::test
