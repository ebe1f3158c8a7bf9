// Generation: the cache changes no result, the context slides, and tokens are drawn with their probabilities.

#include "models/generation/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "device_fixture.h"
#include "models/attention/kind.h"
#include "models/generation/sampling.h"
#include "ops/rows/softmax.h"
#include "passes/run_passes.h"
#include "tests/models/small_language_models.h"

namespace vkf::test {

namespace {

// --------------------------------------------------------------------------------------- sampling

std::vector<double> shares(std::span<const float> logits, const Sampling& sampling, int draws) {
    Random random(7, "sampling");
    std::vector<double> counts(logits.size());
    for (int i = 0; i < draws; ++i) counts[static_cast<std::size_t>(sample(logits, sampling, random))] += 1;
    for (double& count : counts) count /= draws;
    return counts;
}

/// Checks that every frequency is within five standard deviations of its probability, and that impossible tokens are
/// never drawn.
void expect_drawn_as(std::span<const float> logits, const Sampling& sampling, std::span<const double> wanted) {
    constexpr int DRAWS = 40000;
    const std::vector<double> drawn = shares(logits, sampling, DRAWS);
    for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_LE(std::abs(drawn[i] - wanted[i]), 5 * std::sqrt(wanted[i] * (1 - wanted[i]) / DRAWS)) << "token " << i;
}

std::vector<double> softmax(std::span<const float> logits, double temperature) {
    std::vector<double> p;
    for (const float logit : logits) p.push_back(std::exp(static_cast<double>(logit) / temperature));
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& share : p) share /= sum;
    return p;
}

const std::vector<float> LOGITS{0.5f, -1.0f, 2.0f, 1.5f, 0.0f, -3.0f, 2.0f};

TEST(HostSampling, MinPKeepsWhatIsLikelyEnough) {
    // Probabilities relative to the likeliest, with logit 2: e^-0.5 = 0.607 for logit 1.5, e^-1.5 = 0.223 for 0.5,
    // e^-2 = 0.135 for 0.
    const auto kept = [](double min_p, double top_p = 1, double temperature = 1) {
        std::string tokens;
        const auto p = probabilities(LOGITS, {.temperature = temperature, .top_k = 0, .top_p = top_p, .min_p = min_p});
        for (std::size_t i = 0; i < p.size(); ++i)
            if (p[i] > 0) tokens += std::to_string(i);
        EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-15);
        return tokens;
    };
    EXPECT_EQ(kept(0), "0123456");
    EXPECT_EQ(kept(0.14), "0236");
    EXPECT_EQ(kept(0.13), "02346");
    EXPECT_EQ(kept(0.61), "26");
    EXPECT_EQ(kept(0.60), "236");
    EXPECT_EQ(kept(1), "26");
    EXPECT_EQ(kept(0.14, 0.3), "2");
    EXPECT_EQ(kept(0.60, 1, 0.5), "26");  // after the temperature is applied: e^-1 = 0.37
    EXPECT_EQ(kept(0.36, 1, 0.5), "236");
}

TEST(HostSampling, DrawsTheSoftmaxOfTheTemperedLogits) {
    for (const double temperature : {0.5, 1.0, 3.0}) {
        const Sampling all{.temperature = temperature, .top_k = 0, .top_p = 1};
        const auto wanted = softmax(LOGITS, temperature);
        const auto found = probabilities(LOGITS, all);
        for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-15);
        expect_drawn_as(LOGITS, all, wanted);
    }
}

TEST(HostSampling, TemperatureZeroIsTheFirstOfTheGreatest) {
    Random random(1, "greedy");
    for (int i = 0; i < 100; ++i) EXPECT_EQ(sample(LOGITS, {.temperature = 0}, random), 2);
}

TEST(HostSampling, TopKKeepsTheGreatestAndTheirEquals) {
    const auto kept = [](std::int64_t k) {
        const auto p = probabilities(LOGITS, {.temperature = 1, .top_k = k, .top_p = 1});
        EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1.0, 1e-15);
        std::vector<int> tokens;
        for (std::size_t i = 0; i < p.size(); ++i)
            if (p[i] > 0) tokens.push_back(static_cast<int>(i));
        return tokens;
    };
    EXPECT_EQ(kept(1), (std::vector{2, 6}));  // equal logits are kept, as in nanoGPT
    EXPECT_EQ(kept(2), (std::vector{2, 6}));
    EXPECT_EQ(kept(3), (std::vector{2, 3, 6}));
    EXPECT_EQ(kept(7).size(), 7u);
    EXPECT_EQ(kept(0).size(), 7u);
    EXPECT_EQ(kept(1000).size(), 7u);
}

TEST(HostSampling, TopPKeepsTheLikeliestUpToTheOneThatReachesIt) {
    const std::vector<float> logits{std::log(0.1f), std::log(0.4f), std::log(0.2f), std::log(0.3f)};
    const auto kept = [&](double p) {
        std::vector<int> tokens;
        const auto chances = probabilities(logits, {.temperature = 1, .top_k = 0, .top_p = p});
        for (std::size_t i = 0; i < chances.size(); ++i)
            if (chances[i] > 0) tokens.push_back(static_cast<int>(i));
        return tokens;
    };
    EXPECT_EQ(kept(1e-9), (std::vector{1}));
    EXPECT_EQ(kept(0.39), (std::vector{1}));
    EXPECT_EQ(kept(0.41), (std::vector{1, 3}));
    EXPECT_EQ(kept(0.69), (std::vector{1, 3}));
    EXPECT_EQ(kept(0.71), (std::vector{1, 2, 3}));
    EXPECT_EQ(kept(1.0), (std::vector{0, 1, 2, 3}));
    const std::vector<double> nucleus{0, 4.0 / 7, 0, 3.0 / 7};
    expect_drawn_as(logits, {.temperature = 1, .top_k = 0, .top_p = 0.6}, nucleus);
}

TEST(HostSampling, TheSameSeedDrawsTheSameTokens) {
    const auto draw = [](std::uint64_t seed, std::uint64_t index) {
        Random random(seed, "sample", index);
        std::vector<std::int32_t> tokens(64);
        for (auto& token : tokens) token = sample(LOGITS, {.temperature = 2}, random);
        return tokens;
    };
    EXPECT_EQ(draw(1, 0), draw(1, 0));
    EXPECT_NE(draw(1, 0), draw(2, 0));
    EXPECT_NE(draw(1, 0), draw(1, 1));
}

TEST(HostSampling, ExtremeLogitsAreNeitherOverflowNorZero) {
    const std::vector<float> far{-3e38f, 3e38f, 0.0f};
    const auto p = probabilities(far, {.temperature = 1e-3, .top_k = 0, .top_p = 0.9});
    EXPECT_EQ(p, (std::vector<double>{0, 1, 0}));
    EXPECT_EQ(probabilities(std::vector{5.0f}, {}), std::vector<double>{1});
}

TEST(HostSampling, RefusesWhatIsNoProbability) {
    const std::vector<float> broken{0.0f, std::numeric_limits<float>::quiet_NaN()};
    EXPECT_THROW(probabilities(broken, {}), Error);
    Random random(1, "none");
    EXPECT_THROW(sample(broken, {}, random), Error);
    EXPECT_THROW(validate(Sampling{.temperature = -1}), InputError);
    EXPECT_THROW(validate(Sampling{.repetition_penalty = 0}), InputError);
    EXPECT_THROW(validate(Sampling{.min_p = 1.5}), InputError);
    EXPECT_THROW(validate(Sampling{.top_k = -1}), InputError);
    EXPECT_THROW(validate(Sampling{.top_p = 0}), InputError);
    EXPECT_THROW(validate(Sampling{.top_p = 1.5}), InputError);
    EXPECT_THROW(validate(Sampling{.top_p = std::nan("")}), InputError);
}

// -------------------------------------------------------------------------------------- the cache

/// Logits at the last position, computed without a cache.
std::vector<float> whole(const ModelConfig& config, std::span<const std::int32_t> tokens,
                         Format activations = Format::f32) {
    Graph graph;
    Parameters parameters;
    State state(shared_device());
    const Tensor input = graph.input("tokens", {DType::i32, {1, std::ssize(tokens)}});
    graph.output("logits", language_logits(Scope(graph, parameters), config, input, nullptr, true));
    graph.activations = activations;
    Program program(shared_device(), graph, state);
    fill(parameters, state);
    program.write("tokens", tokens);
    program.run();
    return program.read("logits");
}

double worst_difference(std::span<const float> a, std::span<const float> b) {
    EXPECT_EQ(a.size(), b.size());
    double worst = 0, scale = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
        scale = std::max(scale, std::abs(static_cast<double>(b[i])));
    }
    return worst / scale;
}

/// Family, variant, mask_diagonal, kind.
using GenerationCase = std::tuple<std::string, std::string, bool, std::string>;

class DeviceGeneration : public testing::TestWithParam<GenerationCase> {
protected:
    ModelConfig config() const {
        const auto& [family, variant, mask_diagonal, kind] = GetParam();
        ModelConfig made = small_language_model(family, variant, mask_diagonal);
        set_small_kind(made.attention(), kind);
        return made;
    }
};

// Two orders of summing the same fp32 products differ by a few ulps per layer, far below 1e-5 of the largest logit.
constexpr double CLOSE = 1e-5;

TEST_P(DeviceGeneration, ReadingTokenByTokenEqualsReadingTheWhole) {
    const auto tokens = words(21);
    Generator generator(shared_device(), config());
    fill(generator.parameters(), generator.state());
    for (const std::size_t prompt : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{16}}) {
        std::vector<float> logits = generator.prefill(std::span(tokens).first(prompt));
        EXPECT_LE(worst_difference(logits, whole(config(), std::span(tokens).first(prompt))), CLOSE) << prompt;
        for (std::size_t i = prompt; i < tokens.size(); ++i) logits = generator.decode(tokens[i]);
        EXPECT_EQ(generator.context(), tokens);
        EXPECT_LE(worst_difference(logits, whole(config(), tokens)), CLOSE) << prompt;
    }
}

TEST_P(DeviceGeneration, AFullContextGoesOnFromItsLastHalf) {
    const auto tokens = words(40);
    Generator generator(shared_device(), config());
    fill(generator.parameters(), generator.state());
    std::vector<float> logits = generator.prefill(std::span(tokens).first(30));  // the context holds 21
    EXPECT_EQ(generator.context(), std::vector(tokens.begin() + 9, tokens.begin() + 30));
    EXPECT_LE(worst_difference(logits, whole(config(), generator.context())), CLOSE);
    for (std::size_t i = 30; i < tokens.size(); ++i) {
        logits = generator.decode(tokens[i]);
        const auto& seen = generator.context();
        ASSERT_TRUE(!seen.empty() && seen.size() <= 21);
        EXPECT_TRUE(std::equal(seen.rbegin(), seen.rend(), tokens.rend() - static_cast<std::ptrdiff_t>(i) - 1));
        EXPECT_LE(worst_difference(logits, whole(config(), seen)), CLOSE) << i;
    }
}

/// A 16-bit cache adds no rounding of keys and values, which mixed precision rounds anyway. Results differ by the order
/// of sums in fp32, and sometimes in a 16-bit number, if its unrounded value is close to the middle of two neighbours.
TEST_P(DeviceGeneration, KeysAndValuesAreKeptIn16BitsIfActivationsAre) {
    const auto tokens = words(21);
    for (const Format format : {Format::bf16, Format::f16}) {
        Graph graph;
        Parameters parameters;
        prefill_chunk(Scope(graph, parameters), config(), 1, format);
        graph.activations = format;
        run_passes(graph);
        std::size_t reads = 0;
        for (const Node& node : graph.nodes()) {
            if (!node.op->name().starts_with("attention")) continue;
            ++reads;
            for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(node.in[k].format(), format) << k;
        }
        if (!config().attention().kind().carries_state) {
            EXPECT_EQ(reads, 2u);
            State state(shared_device());
            const Program program(shared_device(), graph, state);
            // Keys and values of 21 positions in two layers.
            EXPECT_EQ(program.memory().states, 4 * parameters.count() + 2 * 2 * 21 * 24 * 2);
        }
        Generator generator(shared_device(), config(), {.activations = format});
        fill(generator.parameters(), generator.state());
        std::vector<float> logits = generator.prefill(std::span(tokens).first(16));
        for (std::size_t i = 16; i < tokens.size(); ++i) logits = generator.decode(tokens[i]);
        const double unit = format == Format::bf16 ? 0x1p-8 : 0x1p-11;
        EXPECT_LE(worst_difference(logits, whole(config(), tokens, format)), 4 * unit);
    }
}

std::string generation_id(const testing::TestParamInfo<GenerationCase>& info) {
    const auto& [family, variant, mask_diagonal, kind] = info.param;
    std::string name = kind == "full" ? variant : family + variant + kind;
    std::erase(name, '-');
    return name + (mask_diagonal ? "Masked" : "");
}

/// Kinds of attention beside full attention with which a model can continue text; the others are for encoders.
std::vector<std::string> other_kinds() {
    std::vector<std::string> kinds = kind_names();
    for (const char* other : {"full", "linformer", "longformer"}) std::erase(kinds, other);
    return kinds;
}

INSTANTIATE_TEST_SUITE_P(DeviceVariants, DeviceGeneration,
                         testing::Combine(testing::Values("gpt2"), testing::ValuesIn(variant_names()), testing::Bool(),
                                          testing::Values("full")),
                         generation_id);
INSTANTIATE_TEST_SUITE_P(DeviceLlama, DeviceGeneration,
                         testing::Combine(testing::Values("llama"), testing::ValuesIn(variant_names()),
                                          testing::Values(false), testing::Values("full")),
                         generation_id);
INSTANTIATE_TEST_SUITE_P(DeviceNanoGpt2, DeviceGeneration,
                         testing::Combine(testing::Values("nano-gpt2"), testing::ValuesIn(variant_names()),
                                          testing::Values(false), testing::Values("full")),
                         generation_id);
INSTANTIATE_TEST_SUITE_P(DeviceKinds, DeviceGeneration,
                         testing::Combine(testing::Values("gpt2", "llama"),
                                          testing::Values("belief-star", "differential"), testing::Values(false),
                                          testing::ValuesIn(other_kinds())),
                         generation_id);

TEST(DeviceGenerator, OnePositionIsEnoughContext) {
    Gpt2Config config = small("standard", false);
    config.n_positions = 1;
    Generator generator(shared_device(), config);
    fill(generator.parameters(), generator.state());
    generator.prefill(std::vector{3, 4, 5});
    EXPECT_EQ(generator.context(), std::vector{5});
    const auto logits = generator.decode(7);
    EXPECT_EQ(generator.context(), std::vector{7});
    EXPECT_LE(worst_difference(logits, whole(config, std::vector{7})), CLOSE);
    EXPECT_THROW(generator.prefill({}), InputError);
}

TEST(DeviceGenerator, HeadsOfOddWidthKeepTheirCacheInFp32) {
    Gpt2Config config = small("standard", false);
    config.n_embd = 21;
    const auto tokens = words(9);
    Generator generator(shared_device(), config, {.activations = Format::bf16});
    fill(generator.parameters(), generator.state());
    EXPECT_EQ(generator.state().format("h.0.attn.cached_keys"), Format::f32);
    EXPECT_LE(worst_difference(generator.prefill(tokens), whole(config, tokens, Format::bf16)), 4 * 0x1p-8);
}

/// A window of 5 positions and 2 global tokens, in a cache that has no room for all 800 positions.
TEST(DeviceGenerator, AWindowKeepsOnlyPositionsThatAreSeen) {
    for (const std::string family : {"gpt2", "llama"}) {
        ModelConfig config = small_language_model(family, "belief-star");
        set_small_kind(config.attention(), "window");
        if (family == "gpt2") {
            Gpt2Config longer = small("belief-star", false);
            longer.n_positions = 800;
            longer.attention = config.attention();
            config = longer;
        } else {
            LlamaConfig longer = small_llama("belief-star", false);
            longer.max_position_embeddings = 800;
            longer.attention = config.attention();
            config = longer;
        }
        EXPECT_EQ(cache_bytes(config, Format::f32), 2 * 2 * (5 + 2 + 2 * 256) * 24 * 4);
        EXPECT_FALSE(cache_keeps_positions(config));
        EXPECT_TRUE(cache_keeps_positions(small_language_model(family, "belief-star")));

        const auto tokens = words(800);
        const std::span all(tokens);
        Generator generator(shared_device(), config);
        fill(generator.parameters(), generator.state());
        // 700 positions are read in parts of 256, 256, 128, 32, 16, 8 and 4; the cache drops 256 of them twice.
        for (const std::size_t prompt : {std::size_t{511}, std::size_t{700}}) {
            const std::vector<float> logits = generator.prefill(all.first(prompt));
            EXPECT_LE(worst_difference(logits, whole(config, all.first(prompt))), CLOSE) << prompt;
        }
        // A part of 256 tokens whose first sees its whole window: without positions dropped, and with 256 dropped.
        for (const std::size_t prompt : {std::size_t{257}, std::size_t{264}}) {
            generator.prefill(all.first(prompt));
            const std::vector<float> more = generator.extend(all.subspan(prompt, 256));
            EXPECT_LE(worst_difference(more, whole(config, all.first(prompt + 256))), CLOSE) << prompt;
        }
        std::vector<float> logits = generator.prefill(all.first(300));
        for (std::size_t i = 300; i < tokens.size(); ++i) {
            logits = generator.decode(tokens[i]);
            if (i == 518 || i == 519 || i == 775) {
                EXPECT_LE(worst_difference(logits, whole(config, all.first(i + 1))), CLOSE) << i;
            }
        }
        EXPECT_LE(worst_difference(logits, whole(config, tokens)), CLOSE);

        Generator two(shared_device(), config, {.rows = 2});
        fill(two.parameters(), two.state());
        two.prefill(all.first(517), 1);
        two.prefill(all.first(3), 0);
        for (std::size_t i = 0; i < 6; ++i) {  // row 1 drops positions at its third token
            const std::array next{NextToken{.row = 0, .token = tokens[3 + i], .how = {.vocabulary = 23}},
                                  NextToken{.row = 1, .token = tokens[517 + i], .how = {.vocabulary = 23}}};
            const std::vector<SampledToken> drawn = two.decode(next);
            for (const auto& [row, count] : {std::pair{0u, 4 + i}, std::pair{1u, 518 + i}}) {
                const std::vector<float> wanted = whole(config, all.first(count));
                EXPECT_EQ(drawn[row].token, std::ranges::max_element(wanted) - wanted.begin()) << row << ' ' << i;
            }
        }
    }
}

TEST(DeviceGenerator, StartForgetsWhatWasRead) {
    const auto tokens = words(19);
    Generator generator(shared_device(), small("belief", false));
    fill(generator.parameters(), generator.state());
    const auto first = generator.prefill(std::span(tokens).first(8));
    generator.prefill(tokens);
    EXPECT_EQ(generator.prefill(std::span(tokens).first(8)), first);  // bitwise
}

}  // namespace

}  // namespace vkf::test
