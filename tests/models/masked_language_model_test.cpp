// Hidden words: BERT's shares, tokens that are never hidden, and the mask token of a tokenizer.

#include "models/masked_language_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "models/families/bert.h"
#include "models/train/token_feed.h"
#include "scratch.h"

namespace vkf::test {
namespace {

constexpr std::int32_t VOCABULARY = 500, MASK = 137, SPECIAL = 3;

/// Random words, some special and mask tokens among them, and some positions without a target.
Batch many_words() {
    Random random(5, "words", 0);
    Batch batch;
    for (int i = 0; i < 200'000; ++i) {
        batch["tokens"].push_back(static_cast<std::int32_t>(random.below(VOCABULARY)));
        batch["targets"].push_back(i % 10 == 0 ? -1 : 1);
    }
    return batch;
}

/// Expects a count within five standard deviations of a binomial distribution.
void expect_share(std::int64_t count, std::int64_t of, double share) {
    const auto n = static_cast<double>(of);
    EXPECT_NEAR(static_cast<double>(count), n * share, 5 * std::sqrt(n * share * (1 - share)));
}

TEST(HostMasking, HasTheSharesOfThePaper) {
    const Batch before = many_words();
    Batch after = before;
    Random random(1, "objective", 0);
    hide_words({VOCABULARY, MASK, 0.15f}, std::vector{SPECIAL}, after, random);
    std::int64_t words = 0, chosen = 0, masked = 0, kept = 0;
    std::vector<std::int64_t> others(VOCABULARY);
    for (std::size_t i = 0; i < before.at("tokens").size(); ++i) {
        const std::int32_t was = before.at("tokens")[i], is = after.at("tokens")[i], target = after.at("targets")[i];
        const bool word = before.at("targets")[i] >= 0 && was != MASK && was != SPECIAL;
        words += word;
        if (target < 0) {
            EXPECT_EQ(target, -1);
            EXPECT_EQ(is, was);
            continue;
        }
        EXPECT_TRUE(word) << "token " << was << " is hidden";
        EXPECT_EQ(target, was);
        ++chosen;
        masked += is == MASK;
        kept += is == was;
        if (is != MASK && is != was) ++others.at(static_cast<std::size_t>(is));
    }
    EXPECT_GT(words, 170'000);
    expect_share(chosen, words, 0.15);
    expect_share(masked, chosen, 0.8);
    const double by_chance = 1.0 / (VOCABULARY - 1);  // another token may be the same
    expect_share(kept, chosen, 0.1 + 0.1 * by_chance);
    std::int64_t missing = 0;
    for (std::int32_t token = 0; token < VOCABULARY; ++token)
        missing += others[static_cast<std::size_t>(token)] == 0 && token != MASK;
    EXPECT_LT(missing, 40);  // of 499 tokens that are drawn five times on average, e^-5 are not drawn
}

TEST(HostMasking, BatchesHideTheSameWordsEveryTimeButNotInEveryBatch) {
    BertConfig config;
    config.vocab_size = 50;
    config.mask_token_id = 49;
    std::vector<std::uint16_t> text(400);
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<std::uint16_t>(i % 40);
    const Batches batches("train", text, {Order::random, 4, 50, 1, language_objective(config, {7})});
    EXPECT_EQ(batches.at(3), batches.at(3));
    EXPECT_NE(batches.at(3).at("targets"), batches.at(4).at("targets"));
    for (std::uint64_t t = 0; t < 20; ++t)
        for (const std::int32_t target : batches.at(t).at("targets")) EXPECT_NE(target, 7);
}

TEST(HostMasking, TheMaskTokenIsTheTokenizersUnlessTheModelHasOne) {
    /// Characters with an added token.
    struct Letters : Tokenizer {
        explicit Letters(const char* added) : Tokenizer(Added{{{added, 5, true}, {"<s>", 4, true}}, {}}) {}
        std::size_t size() const override { return 6; }
        std::string bytes(std::int32_t) const override { return "a"; }
        std::unique_ptr<TextEncoder> text_encoder() const override { return nullptr; }
    };
    const auto adopted = [](const BertConfig& config, const char* added) {
        const Letters letters(added);
        ModelConfig model = config;
        adopt_mask_token(model, &letters);
        return model.as<BertConfig>().mask_token_id;
    };
    EXPECT_EQ(adopted({}, "[MASK]"), 5);
    EXPECT_EQ(adopted({}, "<mask>"), 5);
    EXPECT_EQ(adopted({}, "<hidden>"), -1);
    BertConfig known;
    known.mask_token_id = 2;
    EXPECT_EQ(adopted(known, "[MASK]"), 2);
    const Letters letters("[MASK]");
    EXPECT_EQ(special_tokens(&letters), (Tokens{5, 4}));
    EXPECT_EQ(special_tokens(nullptr), Tokens());
}

TEST(HostMasking, PredictionsWithoutTargetsDoNotCount) {
    Predictions predictions;
    EXPECT_EQ(predictions.accuracy(), 0);
    predictions.add(std::vector{1, 2, 3, 4}, std::vector{1, -1, 4, -1});
    EXPECT_EQ(predictions.count, 2);
    EXPECT_EQ(predictions.accuracy(), 0.5);
}

}  // namespace
}  // namespace vkf::test
