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
#include "device_fixture.h"
#include "models/generation/sampling.h"
#include "op_check.h"
#include "program/program.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

constexpr float NOT_A_NUMBER = std::numeric_limits<float>::quiet_NaN(), ENDLESS = INFINITY;

// --------------------------------------------------------------------------------------- weights

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

// ----------------------------------------------------------------------------------------- tokens

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

/// Samplings with different filters, which leave different numbers of tokens.
const std::vector<Sampling> ways{
    {.temperature = 0},
    {},
    {.temperature = 1, .top_k = 0},
    {.temperature = 3, .top_k = 0, .top_p = 0.9},
    {.temperature = 0.3, .top_k = 0, .min_p = 0.05},
    {.temperature = 1, .top_k = 1},
    {.temperature = 1.3, .top_k = 5, .top_p = 0.7, .min_p = 0.1, .repetition_penalty = 1.2},
    {.temperature = 1, .top_k = 0, .top_p = 1e-9},
    {.temperature = 1, .top_k = 0, .top_p = 0.5, .repetition_penalty = 0.7},
    {.temperature = 0, .repetition_penalty = 1.5},
    {.temperature = 1e-6, .top_k = 0, .top_p = 0.999},
    {.temperature = 1000, .top_k = 40, .min_p = 1},
};

/// Normal logits; every third set is rounded, so that many are equal.
std::vector<float> drawn_logits(std::size_t count, std::uint64_t number) {
    Random random(5, "logits", number);
    std::vector<float> logits(count);
    for (float& logit : logits) {
        const double drawn = 3 * random.normal();
        logit = static_cast<float>(number % 3 == 0 ? std::round(drawn) : drawn);
    }
    return logits;
}

TEST(HostSample, DrawsTheTokensThatDoublesDraw) {
    const std::vector<std::int32_t> seen(seen_words(997));
    for (const Sampling& way : ways) {
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

// ---------------------------------------------------------------------------------------- kernels

/// `rows` rows of logits, with all samplings in rotation. More than a third of the tokens are seen; tokens from
/// `vocabulary` on must not be drawn.
struct Batch {
    std::int64_t rows, width, vocabulary;
    std::vector<float> logits;
    std::vector<std::int32_t> how, seen;

    Batch(std::int64_t count, std::int64_t columns, std::int64_t known)
        : rows(count), width(columns), vocabulary(known) {
        Random random(9, "batch", static_cast<std::uint64_t>(width));
        for (std::int64_t b = 0; b < rows; ++b) {
            const std::vector<float> fresh =
                drawn_logits(static_cast<std::size_t>(width), static_cast<std::uint64_t>(b));
            logits.insert(logits.end(), fresh.begin(), fresh.end());
            set(b, sample_row(ways[static_cast<std::size_t>(b) % ways.size()], vocabulary, random, b % 5 != 0));
            for (std::int64_t i = 0; i < seen_words(width); ++i)
                seen.push_back(static_cast<std::int32_t>((random.bits() & random.bits()) | 1U << i % 32));
        }
    }

    void set(std::int64_t b, const SampleRow& row) {
        how.resize(static_cast<std::size_t>(rows * SampleRow::words));
        std::memcpy(&how[static_cast<std::size_t>(b * SampleRow::words)], &row, sizeof row);
    }

    SampledToken wanted(std::int64_t b) const {
        SampleRow row;
        std::memcpy(static_cast<void*>(&row), &how[static_cast<std::size_t>(b * SampleRow::words)], sizeof row);
        const auto part = [b](const auto& all, std::int64_t count) {
            return std::span(all).subspan(static_cast<std::size_t>(b * count), static_cast<std::size_t>(count));
        };
        return sample_token(part(logits, width), row, part(seen, seen_words(width)));
    }

    std::vector<SampledToken> found(bool cpu) const {
        Graph graph;
        const Tensor x = graph.input("x", {DType::f32, {rows, 1, width}});
        const Tensor rows_in = graph.input("rows", {DType::i32, {rows, SampleRow::words}});
        const auto [tokens, others] = sample(x, rows_in, graph.input("seen", {DType::i32, {rows, seen_words(width)}}));
        graph.output("tokens", tokens);
        graph.output("others", others);
        State state(shared_device());
        Program program(shared_device(), graph, state,
                        {.traits = cpu ? traits(shared_device()) : traits_of_gpu(shared_device())});
        program.write("x", logits);
        program.write("rows", how);
        program.write("seen", seen);
        program.run();
        std::vector<SampledToken> made;
        for (std::int64_t b = 0; b < rows; ++b)
            made.push_back(sampled_token(program.read_ints("tokens"), program.read_ints("others"), b));
        return made;
    }

    void expect_same() const {
        for (const bool cpu : {true, false}) {
            const std::vector<SampledToken> made = found(cpu);
            for (std::int64_t b = 0; b < rows; ++b) {
                const SampledToken &one = made[static_cast<std::size_t>(b)], other = wanted(b);
                ASSERT_EQ(one.token, other.token) << "row " << b << " of width " << width << (cpu ? "" : ", as a GPU");
                ASSERT_EQ(std::bit_cast<std::uint32_t>(one.logit), std::bit_cast<std::uint32_t>(other.logit)) << b;
                ASSERT_EQ(one.greatest, other.greatest) << b;
                ASSERT_EQ(one.sum, other.sum) << b;
            }
        }
    }
};

TEST(DeviceSample, IsTheHostsToTheLastBit) {
    for (const std::int64_t width : {1, 2, 3, 7, 8, 9, 31, 33, 64, 65, 255, 257, 1000, 5003})
        Batch(24, width, width).expect_same();
    Batch(12, 1000, 997).expect_same();
    Batch(12, 8193, 8193).expect_same();
    Batch(12, 9001, 8990).expect_same();
    Batch(12, 50257, 50257).expect_same();
}

TEST(DeviceSample, DrawsWithTheirProbabilities) {
    const std::vector logits{0.5f, -1.0f, 2.0f, 1.5f, 0.0f, -3.0f, 2.0f};
    constexpr std::int64_t draws = 20000;
    const Sampling way{.temperature = 1.2, .top_k = 6, .top_p = 0.95};
    const std::vector<double> p = probabilities(logits, way);
    Batch batch(draws, 7, 7);
    Random random(11, "draws");
    for (std::int64_t b = 0; b < draws; ++b) {
        std::ranges::copy(logits, &batch.logits[static_cast<std::size_t>(7 * b)]);
        batch.set(b, sample_row(way, 7, random));
    }
    std::vector<double> counts(7);
    for (const SampledToken& made : batch.found(true)) counts.at(static_cast<std::size_t>(made.token)) += 1;
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
            Batch batch(3, width, width - 10);
            const auto second = static_cast<std::size_t>(width);
            batch.logits[17] = batch.logits[second - 37] = bad;
            batch.logits[2 * second - 5] = bad;  // padding
            batch.set(2, SampleRow());           // an unused row
            for (const bool cpu : {true, false}) {
                const std::vector<SampledToken> made = batch.found(cpu);
                EXPECT_EQ(made[0].token, -1 - 17);
                EXPECT_EQ(std::bit_cast<std::uint32_t>(made[0].logit), std::bit_cast<std::uint32_t>(bad));
                EXPECT_EQ(made[1].token, batch.wanted(1).token);
                EXPECT_EQ(made[1].sum, batch.wanted(1).sum);
                EXPECT_EQ(made[2].token, -1);
            }
        }
}

OpCase drawn(std::string name, std::int64_t rows, std::int64_t width, std::int64_t padding = 0) {
    const Batch batch(rows, width, width);
    Operand logits = fixed({rows, width}), how = integers({rows, SampleRow::words}, 0, 1),
            seen = integers({rows, seen_words(width)}, 0, 1);
    logits.values.assign(batch.logits.begin(), batch.logits.end());
    logits.padding = padding;
    how.values.assign(batch.how.begin(), batch.how.end());
    seen.values.assign(batch.seen.begin(), batch.seen.end());
    return {std::move(name), {logits, how, seen}, [](Inputs x) {
                const auto [tokens, others] = sample(x[0], x[1], x[2]);
                return std::vector{tokens, others};
            }};
}

/// Memory between and next to the rows is not read, and outputs are written completely. Tokens are compared exactly.
const std::vector<OpCase> sample_cases{drawn("one", 3, 1), drawn("odd rows", 12, 131), drawn("slices", 12, 64, 2),
                                       drawn("odd slices", 12, 33, 3), drawn("wide", 12, 5003)};

VKF_OP_TABLE(Sample, sample_cases);

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
