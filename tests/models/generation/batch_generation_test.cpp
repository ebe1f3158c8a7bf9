// Generation of several texts at once: each text equals the one that is generated alone.

#include "models/generation/batch_generation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "device_fixture.h"
#include "scratch.h"
#include "tests/models/small_language_models.h"

namespace vkf::test {

namespace {

// --------------------------------------------------------------------------------------- one text

ContinuationOptions greedy(std::int64_t tokens) {
    return {.sampling = {.temperature = 0},
            .max_new_tokens = tokens,
            .stop = {},
            .end_tokens = {},
            .vocabulary = 23,
            .log_probabilities = true};
}

const std::vector<float> LOGITS{1, 3, 2, 9};  // the last one is padding

TEST(HostContinuation, EndsAtItsLengthOrBeforeATokenThatEndsIt) {
    ContinuationOptions options = greedy(2);
    options.vocabulary = 3;
    Continuation text(options, nullptr, {0, 2}, Random(1, "text"));
    EXPECT_EQ(text.take_shown(), "0 2 ");
    text.advance(LOGITS);
    EXPECT_FALSE(text.finished());
    text.advance(LOGITS);
    EXPECT_STREQ(text.finish_reason(), "length");
    EXPECT_EQ(text.tokens(), (Tokens{1, 1}));
    EXPECT_EQ(text.text(), "1 1 ");
    EXPECT_EQ(text.take_shown(), "1 1 ");
    EXPECT_EQ(text.take_shown(), "");

    options.end_tokens = {2, 1};
    Continuation ended(options, nullptr, {0}, Random(1, "text"));
    ended.advance(LOGITS);
    EXPECT_STREQ(ended.finish_reason(), "end_of_text");
    EXPECT_EQ(ended.tokens(), Tokens());
    EXPECT_EQ(ended.text(), "");

    options.max_new_tokens = 0;
    Continuation none(options, nullptr, {0}, Random(1, "text"));
    none.advance(LOGITS);
    EXPECT_STREQ(none.finish_reason(), "length");
}

TEST(HostContinuation, EndsBeforeAStopStringAndWhereItIsInterrupted) {
    ContinuationOptions options = greedy(9);
    options.vocabulary = 3;
    options.stop = {"1 1 1"};
    Continuation text(options, nullptr, {0}, Random(1, "text"));
    text.take_shown();
    text.advance(LOGITS);
    EXPECT_EQ(text.take_shown(), "");  // it may be the beginning of a stop string
    Continuation interrupted = text;
    interrupted.interrupt();
    EXPECT_STREQ(interrupted.finish_reason(), "interrupted");
    EXPECT_EQ(interrupted.take_shown(), "1 ");
    text.advance(LOGITS);
    text.advance(LOGITS);
    EXPECT_STREQ(text.finish_reason(), "stop");
    EXPECT_EQ(text.text(), "");
    EXPECT_EQ(text.tokens(), (Tokens{1, 1, 1}));
}

TEST(HostContinuation, LogProbabilitiesAreTheModelsOwn) {
    ContinuationOptions options = greedy(1);
    options.vocabulary = 3;
    options.sampling = {.temperature = 0.1, .top_k = 1, .repetition_penalty = 100};
    Continuation text(options, nullptr, {1}, Random(1, "text"));
    text.advance(LOGITS);
    EXPECT_EQ(text.tokens(), Tokens{2});  // the likeliest of the tokens that have not occurred
    const double sum = std::exp(1.0) + std::exp(3.0) + std::exp(2.0) + std::exp(9.0);  // also of tokens never drawn
    ASSERT_EQ(text.log_probabilities().size(), 1u);
    EXPECT_NEAR(text.log_probabilities()[0], 2 - std::log(sum), 1e-8);  // ops/sampling/sample.h
}

TEST(HostContinuation, RefusesPromptsOfTokensThatHaveNoLogit) {
    ContinuationOptions options = greedy(1);
    options.sampling.repetition_penalty = 2;
    EXPECT_THROW(Continuation(options, nullptr, {1, 23}, Random(1, "text")), InputError);
    EXPECT_NO_THROW(Continuation(options, nullptr, {1, 22}, Random(1, "text")));
}

TEST(HostContinuation, RefusesLogitsThatAreNotFinite) {
    ContinuationOptions options = greedy(1);
    options.vocabulary = 3;
    options.model = "model m";
    Continuation text(options, nullptr, {1}, Random(1, "text"));
    EXPECT_EQ(complaint<Error>([&] {
                  text.advance(std::vector{1.0f, -INFINITY, 0.0f, 0.0f});
              }),
              "model m: the logit of token 1 is -inf");
    text.advance(std::vector{1.0f, 0.0f, 0.0f, INFINITY});  // the infinity is padding
    EXPECT_EQ(text.tokens(), Tokens{0});
}

// ----------------------------------------------------------------------------------- several texts

struct Wanted {
    Tokens prompt;
    std::int64_t tokens;
    Sampling sampling;
};

/// Prompts and texts of different lengths: one ends when others begin, and two continue after a full context, which is
/// read again. Some prompts are equal, or equally long.
std::vector<Wanted> unequal() {
    const Tokens all = words(40);
    const auto part = [&](std::ptrdiff_t from, std::ptrdiff_t count) {
        return Tokens(all.begin() + from, all.begin() + from + count);
    };
    const Sampling greedy{.temperature = 0};
    return {{part(0, 1), 24, greedy},
            {part(3, 7), 2, greedy},
            {part(5, 13), 15, {.temperature = 1.5, .top_k = 0}},
            {part(5, 13), 9, greedy},
            {part(6, 13), 4, greedy},
            {part(9, 30), 5, {.temperature = 2, .top_k = 9, .top_p = 0.9}},
            {part(2, 20), 1, greedy}};
}

/// Continuations of the prompts, generated in this many rows at once.
std::vector<Continuation> written(const ModelConfig& config, const std::vector<ContinuationOptions>& options,
                                  const std::vector<Wanted>& wanted, std::int64_t rows, Format format) {
    Generator generator(shared_device(), config, {.activations = format, .rows = rows});
    fill(generator.parameters(), generator.state());
    std::vector<Continuation> texts;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        texts.emplace_back(options[i], nullptr, wanted[i].prompt, Random(7, "sample", i));
    const GenerationTimes times = generate_all(generator, texts, [](const GenerationTimes&) { return true; });
    EXPECT_EQ(times.begun, texts.size());
    EXPECT_EQ(times.finished, texts.size());
    std::int64_t tokens = 0;
    for (const Continuation& text : texts) tokens += std::ssize(text.tokens());
    EXPECT_EQ(times.written, tokens);
    return texts;
}

class DeviceBatchGeneration : public testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
    void expect_same(std::int64_t rows, Format format, double tolerance) {
        const auto& [family, variant] = GetParam();
        const ModelConfig config = small_language_model(family, variant);
        const std::vector<Wanted> wanted = unequal();
        std::vector<ContinuationOptions> options;
        for (const Wanted& of : wanted) {
            options.push_back(greedy(of.tokens));
            options.back().sampling = of.sampling;
        }
        const std::vector<Continuation> alone = written(config, options, wanted, 1, format);
        const std::vector<Continuation> together = written(config, options, wanted, rows, format);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            ASSERT_EQ(std::ssize(alone[i].tokens()), wanted[i].tokens);
            ASSERT_EQ(together[i].tokens(), alone[i].tokens()) << "text " << i;
            for (std::size_t k = 0; k < alone[i].tokens().size(); ++k)
                ASSERT_NEAR(together[i].log_probabilities()[k], alone[i].log_probabilities()[k], tolerance)
                    << "text " << i << ", token " << k;
        }
    }
};

TEST_P(DeviceBatchGeneration, UpToFourRowsAreWhatTheyAreAloneToTheLastBit) {
    for (const std::int64_t rows : {2, 3, 4}) expect_same(rows, Format::f32, 0);
}

TEST_P(DeviceBatchGeneration, AlsoWithKeysAndValuesIn16Bits) {
    expect_same(3, Format::bf16, 0);
    expect_same(4, Format::f16, 0);
}

/// Logits are about 10 and differ by CLOSE of generate_test.cpp, 1e-5 of the largest.
TEST_P(DeviceBatchGeneration, MoreRowsChooseTheSameTokens) {
    expect_same(6, Format::f32, 2e-4);
}

std::string batch_id(const testing::TestParamInfo<std::tuple<std::string, std::string>>& info) {
    std::string name = std::get<0>(info.param) + std::get<1>(info.param);
    std::erase(name, '-');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Device, DeviceBatchGeneration,
                         testing::Combine(testing::Values("gpt2", "llama", "nano-gpt2"),
                                          testing::ValuesIn(variant_names())),
                         batch_id);

TEST(DeviceBatches, APromptIsReadOnceForSeveralTexts) {
    const Tokens prompt = words(6);
    const ContinuationOptions options = greedy(3);
    for (const std::int64_t rows : {1, 2, 3}) {
        Generator generator(shared_device(), small("belief", false), {.rows = rows});
        fill(generator.parameters(), generator.state());
        std::vector<Continuation> texts(4, Continuation(options, nullptr, prompt, Random(1, "text")));
        const GenerationTimes times = generate_all(generator, texts, [](const GenerationTimes&) { return true; });
        EXPECT_EQ(times.read, 6);
        for (const Continuation& text : texts) EXPECT_EQ(text.tokens(), texts[0].tokens()) << rows;
    }
}

TEST(DeviceBatches, StopWhereTheyAreTold) {
    const ContinuationOptions options = greedy(5);
    Generator generator(shared_device(), small("standard", false), {.rows = 2});
    fill(generator.parameters(), generator.state());
    std::vector<Continuation> texts(3, Continuation(options, nullptr, words(4), Random(1, "text")));
    std::size_t steps = 0;
    const GenerationTimes times =
        generate_all(generator, texts, [&](const GenerationTimes&) { return ++steps < 4; });  // 2 prompts, 2 tokens
    EXPECT_EQ(times.begun, 2u);
    EXPECT_EQ(texts[0].tokens().size(), 3u);
    EXPECT_EQ(texts[1].tokens().size(), 3u);
    EXPECT_FALSE(texts[0].finished());
    EXPECT_TRUE(texts[2].tokens().empty());
}

TEST(DeviceBatches, MoreIsReadBehindWhatWasRead) {
    const Tokens tokens = words(19);
    Generator whole(shared_device(), small("belief-star", false)), parts(shared_device(), small("belief-star", false));
    fill(whole.parameters(), whole.state());
    fill(parts.parameters(), parts.state());
    const std::vector<float> wanted = whole.prefill(tokens);
    parts.prefill(std::span(tokens).first(5));
    parts.decode(tokens[5]);
    const std::vector<float> found = parts.extend(std::span(tokens).subspan(6));
    EXPECT_EQ(parts.context(), tokens);
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-5 * 10) << i;
    EXPECT_THROW(parts.extend(words(3)), InputError);
    EXPECT_EQ(parts.context(), tokens);
}

}  // namespace

}  // namespace vkf::test
