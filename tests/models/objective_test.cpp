// A family that does not learn the next token: training follows LanguageGraph::objective.

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "base/random.h"
#include "device_fixture.h"
#include "models/config/model_config.h"
#include "models/families/family.h"
#include "tiny_gpt2.h"

namespace vkf::test {
namespace {

/// A family with GPT-2's layers; its task is to repeat each word, except some that have no target.
struct Repeating : Gpt2Config {
    static const Family& family();
};

void ask_for_words(const ModelConfig&, std::span<const std::int32_t>, Batch& batch, Random& random) {
    for (std::size_t i = 0; i < batch.at("tokens").size(); ++i)
        batch.at("targets")[i] = random.uniform() < 0.4 ? batch.at("tokens")[i] : -1;
}

const Family& Repeating::family() {
    static const Family family = [] {
        Family made = gpt2_family();
        made.check = [](const ModelConfig& c) { gpt2_family().check(Gpt2Config(c.as<Repeating>())); };
        made.graph = LanguageGraph{
            [](const Scope& scope, const ModelConfig& c, Tensor tokens, KeyValueCache* cache, bool last_only) {
                const Gpt2Config& base = c.as<Repeating>();
                return std::get<LanguageGraph>(gpt2_family().graph).features(scope, base, tokens, cache, last_only);
            },
            ask_for_words};
        return made;
    }();
    return family;
}

TEST(DeviceObjective, WhatAFamilyMakesOfABatchIsWhatItLearns) {
    const ModelConfig config = Repeating{tiny_gpt2("standard")};
    EXPECT_FALSE(config.family().generates());
    EXPECT_TRUE(ModelConfig(tiny_gpt2("standard")).family().generates());
    EXPECT_FALSE(language_objective(tiny_gpt2("standard")));

    // Random words: the next one cannot be predicted, and guessing has a loss of ln 17.
    std::vector<std::uint16_t> words(400);
    Random random(7, "words", 0);
    for (std::uint16_t& word : words) word = static_cast<std::uint16_t>(random.below(17));
    const Batches batches("train", words, {Order::random, 8, 12, 1, language_objective(config)});
    const auto loss = [&](const Scope& scope) { return language_loss(scope, config, 8, 12); };
    Trainer trainer(shared_device(), loss, loss, {});
    const Feed feed = feed_of(batches);
    for (std::int64_t it = 0; it < 60; ++it) {
        trainer.start(it, 1e-2, feed);
        trainer.finish();
    }
    EXPECT_LT(trainer.evaluate(feed, 1000, 4), 0.5);
}

}  // namespace
}  // namespace vkf::test
