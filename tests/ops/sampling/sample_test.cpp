// Tokens are drawn with their probabilities, and kernels equal the host to the last bit.
#include "ops/sampling/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "base/error.h"
#include "checks/sampling/sample_batch.h"
#include "device_fixture.h"
#include "models/generation/sampling.h"
#include "op_check.h"
#include "program/program.h"

namespace vkf::test {
namespace {

constexpr float NOT_A_NUMBER = std::numeric_limits<float>::quiet_NaN(), ENDLESS = INFINITY;

/// Draws a token in double: adds probabilities one after the other until their sum exceeds the drawn number.
std::int32_t in_double(std::span<const float> logits, const Sampling& sampling, Random& random) {
    const std::vector<double> chances = probabilities(logits, sampling);
    const std::uint64_t high = random.bits() >> 5, low = random.bits() >> 6;
    const double drawn = static_cast<double>(high << 26 | low) * 0x1p-53;
    double sum = 0;
    std::size_t token = 0;
    while ((sum += chances[token]) <= drawn && token + 1 < chances.size()) ++token;
    return static_cast<std::int32_t>(token);
}

/// Tokens that the device draws, with the kernels for CPUs or for GPUs.
std::vector<SampledToken> found(const SampleBatch& batch, bool cpu) {
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {batch.rows, 1, batch.width}});
    const Tensor rows_in = graph.input("rows", {DType::i32, {batch.rows, SampleRow::words}});
    const auto [tokens, others] =
        sample(x, rows_in, graph.input("seen", {DType::i32, {batch.rows, seen_words(batch.width)}}));
    graph.output("tokens", tokens);
    graph.output("others", others);
    State state(shared_device());
    Program program(shared_device(), graph, state,
                    {.traits = cpu ? traits(shared_device()) : traits_of_gpu(shared_device())});
    program.write("x", batch.logits);
    program.write("rows", batch.samplings);
    program.write("seen", batch.seen);
    program.run();
    std::vector<SampledToken> made;
    for (std::int64_t b = 0; b < batch.rows; ++b)
        made.push_back(sampled_token(program.read_ints("tokens"), program.read_ints("others"), b));
    return made;
}

/// Expects that device and host draw the same tokens.
void expect_same(const SampleBatch& batch) {
    for (const bool cpu : {true, false}) {
        const std::vector<SampledToken> made = found(batch, cpu);
        for (std::int64_t b = 0; b < batch.rows; ++b) {
            const SampledToken &one = made[static_cast<std::size_t>(b)], other = batch.wanted(b);
            ASSERT_EQ(one.token, other.token)
                << "row " << b << " of batch.width " << batch.width << (cpu ? "" : ", as a GPU");
            ASSERT_EQ(std::bit_cast<std::uint32_t>(one.logit), std::bit_cast<std::uint32_t>(other.logit)) << b;
            ASSERT_EQ(one.greatest, other.greatest) << b;
            ASSERT_EQ(one.sum, other.sum) << b;
        }
    }
}

/// The polynomial, from 1/2 to 1, is off by 4.1·2^-32, its argument by 2^-32, the scale by 2^-40 of at most 41:
/// together less than 2^-28 of the weight, which is then rounded.
TEST(HostSampleWeight, IsTheExponential) {
    for (const double temperature : {0.01, 0.3, 0.8, 1.0, 7.0, 1e4})
        for (double x = 1e-6; x < 50; x *= 1.0007) {
            const auto below = static_cast<float>(x * temperature);
            const double wanted = std::exp(-static_cast<double>(below) / temperature) * 0x1p40;
            const auto found = static_cast<double>(weight(below, Scale::of(std::numbers::log2e / temperature)));
            ASSERT_NEAR(found, wanted, 0x1p-28 * wanted + 0.5) << below << " at " << temperature;
        }
}

TEST(HostSampleWeight, HasItsLimits) {
    const Scale one = Scale::of(std::numbers::log2e);
    EXPECT_EQ(weight(0, one), WHOLE_WEIGHT);
    EXPECT_EQ(weight(1e-40f, one), WHOLE_WEIGHT);
    EXPECT_EQ(weight(3e38f, one), 0u);
    EXPECT_EQ(weight(ENDLESS, one), 0u);
    EXPECT_EQ(weight(1e-30f, Scale::of(1e300)), 0u);
    EXPECT_EQ(weight(3e38f, Scale::of(1e-300)), WHOLE_WEIGHT);
    EXPECT_EQ(weight(1, Scale::of(1)), WHOLE_WEIGHT / 2);
    EXPECT_EQ(weight(40, Scale::of(1)), 1u);
    EXPECT_EQ(weight(42, Scale::of(1)), 0u);
    for (const double value : {1.0, 0.1, 1e-300, 1e300, 4.9e-324, static_cast<double>(ENDLESS)}) {
        const std::uint64_t digits = Scale::of(value).digits();
        EXPECT_TRUE(digits >= WHOLE_WEIGHT / 2 && digits < WHOLE_WEIGHT) << value;
    }
}

TEST(HostSampleWeight, RescalesWithOneRounding) {
    for (const double scale : {2.0, 0.5, 1.5, 1.25, 0.8125, 1 + 0x1p-10})  // a double holds the product exactly
        for (float x = 1e-3f; x < 1e6f; x *= 1.37f)
            for (const float value : {x, -x})
                ASSERT_EQ(rescaled(value, Scale::of(scale)), static_cast<float>(static_cast<double>(value) * scale));
    EXPECT_EQ(rescaled(3e38f, Scale::of(4)), std::numeric_limits<float>::max());
    EXPECT_EQ(rescaled(-3e38f, Scale::of(4)), -std::numeric_limits<float>::max());
    EXPECT_EQ(rescaled(0x1p-126f, Scale::of(0.5)), 0);
    EXPECT_EQ(rescaled(0x1.fffffep0f, Scale::of(1 + 0x1p-24)), 2);  // rounds up to the next power of two
    EXPECT_EQ(rescaled(0, Scale::of(3)), 0);
}

TEST(HostSample, DrawsTheTokensThatDoublesDraw) {
    const std::vector<std::int32_t> seen(seen_words(997));
    for (const Sampling& way : samplings()) {
        if (way.repetition_penalty != 1) continue;
        Random one(3, "draws"), other(3, "draws");
        for (std::uint64_t i = 0; i < 300; ++i) {
            const std::vector<float> logits = drawn_logits(997, i);
            ASSERT_EQ(sample_token(logits, sample_row(way, 997, one), seen).token, in_double(logits, way, other)) << i;
        }
    }
}

TEST(HostSample, WhatIsSeenBecomesLessLikelyOnce) {
    const std::vector logits{0.5f, -1.0f, 2.0f, 0.0f};
    Random random(1, "none");
    const auto token = [&](double penalty, std::int32_t seen) {
        return sample_token(logits, sample_row({.temperature = 0, .repetition_penalty = penalty}, 4, random),
                            std::array{seen})
            .token;
    };
    EXPECT_EQ(token(3, 0b1110), 2);  // 2/3 is more than 1/2
    EXPECT_EQ(token(5, 0b1110), 0);
    EXPECT_EQ(token(5, 0b1010), 2);
    EXPECT_EQ(token(5, 0b1111), 2);
    const std::vector negative{-1.0f, -2.0f};
    const SampleRow row = sample_row({.temperature = 0, .repetition_penalty = 3}, 2, random);
    EXPECT_EQ(sample_token(negative, row, std::array{1}).token, 1);
}

TEST(HostSample, SaysWhichLogitIsNotFinite) {
    Random random(1, "none");
    const SampleRow row = sample_row({}, 3, random, true);
    const SampledToken bad = sample_token(std::vector{1.0f, 2.0f, -ENDLESS, 0.0f}, row, std::array{0});
    EXPECT_EQ(bad.token, -1 - 2);
    EXPECT_EQ(bad.logit, -ENDLESS);
    EXPECT_GE(sample_token(std::vector{1.0f, 2.0f, 0.0f, NOT_A_NUMBER}, row, std::array{0}).token, 0);  // of padding
    EXPECT_EQ(sample_token(std::vector{1.0f, 2.0f}, SampleRow(), std::array{0}).token, -1);
}

TEST(HostSample, ProbabilitiesAreTheModelsOwn) {
    Random random(1, "none");
    const SampleRow row = sample_row({.temperature = 0.1, .top_k = 1, .repetition_penalty = 100}, 3, random, true);
    const SampledToken made = sample_token(std::vector{1.0f, 3.0f, 2.0f, 9.0f}, row, std::array{0b010});
    EXPECT_EQ(made.token, 2);
    const double sum = std::exp(1.0) + std::exp(3.0) + std::exp(2.0) + std::exp(9.0);  // also of tokens never drawn
    EXPECT_NEAR(made.log_probability(), 2 - std::log(sum), 1e-8);
}

TEST(DeviceSample, IsTheHostsToTheLastBit) {
    for (const std::int64_t width : {1, 2, 3, 7, 8, 9, 31, 33, 64, 65, 255, 257, 1000, 5003})
        expect_same(SampleBatch(24, width, width));
    expect_same(SampleBatch(12, 1000, 997));
    expect_same(SampleBatch(12, 8193, 8193));
    expect_same(SampleBatch(12, 9001, 8990));
    expect_same(SampleBatch(12, 50257, 50257));
}

TEST(DeviceSample, DrawsWithTheirProbabilities) {
    const std::vector logits{0.5f, -1.0f, 2.0f, 1.5f, 0.0f, -3.0f, 2.0f};
    constexpr std::int64_t draws = 20000;
    const Sampling way{.temperature = 1.2, .top_k = 6, .top_p = 0.95};
    const std::vector<double> p = probabilities(logits, way);
    SampleBatch batch(draws, 7, 7);
    Random random(11, "draws");
    for (std::int64_t b = 0; b < draws; ++b) {
        std::ranges::copy(logits, &batch.logits[static_cast<std::size_t>(7 * b)]);
        batch.set(b, sample_row(way, 7, random));
    }
    std::vector<double> counts(7);
    for (const SampledToken& made : found(batch, true)) counts.at(static_cast<std::size_t>(made.token)) += 1;
    double square = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
        if (p[i] == 0) {
            EXPECT_EQ(counts[i], 0) << i;
            continue;
        }
        square += (counts[i] - draws * p[i]) * (counts[i] - draws * p[i]) / (draws * p[i]);
    }
    EXPECT_LT(square, 25.7) << "chi-square of at most 6 degrees of freedom, once in 4000 times";
}

TEST(DeviceSample, SaysWhichLogitIsNotFinite) {
    for (const std::int64_t width : {100, 9001})
        for (const float bad : {NOT_A_NUMBER, ENDLESS, -ENDLESS}) {
            SampleBatch batch(3, width, width - 10);
            const auto second = static_cast<std::size_t>(width);
            batch.logits[17] = batch.logits[second - 37] = bad;
            batch.logits[2 * second - 5] = bad;  // padding
            batch.set(2, SampleRow());           // an unused row
            for (const bool cpu : {true, false}) {
                const std::vector<SampledToken> made = found(batch, cpu);
                EXPECT_EQ(made[0].token, -1 - 17);
                EXPECT_EQ(std::bit_cast<std::uint32_t>(made[0].logit), std::bit_cast<std::uint32_t>(bad));
                EXPECT_EQ(made[1].token, batch.wanted(1).token);
                EXPECT_EQ(made[1].sum, batch.wanted(1).sum);
                EXPECT_EQ(made[2].token, -1);
            }
        }
}

TEST(HostSampleShapes, WantsARowAndWhatIsSeenForEachRowOfLogits) {
    Graph graph;
    const auto words = [&](const char* name, Shape shape) { return graph.input(name, {DType::i32, std::move(shape)}); };
    const Tensor x = graph.input("x", {DType::f32, {2, 1, 40}}), rows = words("rows", {2, 18}),
                 seen = words("s", {2, 2});
    EXPECT_EQ(sample(x, rows, seen)[0].type(), (TensorType{DType::i32, {2}}));
    EXPECT_EQ(sample(x, rows, seen)[1].type(), (TensorType{DType::i32, {2, 4}}));
    EXPECT_THROW(sample(x, words("fewer", {1, 18}), seen), InputError);
    EXPECT_THROW(sample(x, words("narrower", {2, 17}), seen), InputError);
    EXPECT_THROW(sample(x, rows, words("less", {2, 1})), InputError);
    EXPECT_THROW(sample(graph.input("wide", {DType::f32, {2, (1 << 22) + 1}}), rows, seen), InputError);
    EXPECT_THROW(sample(rows, rows, seen), InputError);
}

}  // namespace
}  // namespace vkf::test
