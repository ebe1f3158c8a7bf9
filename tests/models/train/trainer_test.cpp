// Updates that are undone, and numbers that are not finite.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "device_fixture.h"
#include "models/files/weights.h"
#include "models/train/run_directory.h"
#include "models/train/trainer.h"
#include "scratch.h"
#include "tests/models/tiny_gpt2.h"

namespace vkf::test {
namespace {

constexpr std::int64_t MICRO_STEPS = 3;

Tensor loss_of(const Scope& scope) {
    return language_loss(scope, tiny_gpt2("standard"), 2, 12);
}

/// Feeds the tiny batch with another token changed for every number; throws once, in place of batch `stop`.
struct Source {
    std::uint64_t stop = std::numeric_limits<std::uint64_t>::max();

    void operator()(Program& program, std::uint64_t number) {
        if (number == stop) {
            stop = std::numeric_limits<std::uint64_t>::max();
            throw std::runtime_error("stop");
        }
        Batch batch = tiny_batch();
        batch.at("tokens")[number % batch.at("tokens").size()] = static_cast<std::int32_t>(number % 17);
        write_batch(program, batch);
    }
};

/// All states after six updates, two of them under way at a time. An update whose feed throws is started again.
std::vector<std::vector<float>> trained(Device& device, std::int64_t micro_steps, std::uint64_t stop) {
    TrainerConfig config;
    config.gradient_accumulation_steps = micro_steps;
    Trainer trainer(device, loss_of, loss_of, config);
    Source source{stop};
    const Feed feed = [&source](Program& program, std::uint64_t number) { source(program, number); };
    bool stopped = false;
    for (std::int64_t it = 0; it < 6;) {
        try {
            trainer.start(it, 1e-2, feed);
            ++it;
        } catch (const std::runtime_error&) {
            stopped = true;
        }
        if (trainer.under_way() == 2) trainer.finish();
    }
    while (trainer.under_way() > 0) trainer.finish();
    EXPECT_EQ(stopped, stop < std::numeric_limits<std::uint64_t>::max());
    std::vector<std::vector<float>> states;
    for (const std::string& name : trainer.kept_states()) states.push_back(trainer.state().read(name));
    return states;
}

TEST(DeviceTrainer, AnUpdateWhoseFeedThrowsHasNotBegun) {
    const std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
    for (const std::int64_t micro_steps : {std::int64_t{1}, MICRO_STEPS}) {
        const auto whole = trained(shared_device(), micro_steps, never);
        // The first micro-batch, and those of the fourth update, while the third one is under way.
        for (std::int64_t stop : {std::int64_t{0}, 3 * micro_steps, 4 * micro_steps - 2, 4 * micro_steps - 1})
            EXPECT_EQ(trained(shared_device(), micro_steps, static_cast<std::uint64_t>(stop)), whole)
                << micro_steps << " micro-batches, stopped at " << stop;
    }
}

TEST(DeviceTrainer, WhatIsNotFiniteIsNeitherEvaluatedNorSaved) {
    const Scratch scratch;
    Trainer trainer(shared_device(), loss_of, loss_of, {});
    RunDirectory run = RunDirectory::create(scratch.path() / "run", false, {});
    run.save(trainer, {});
    const std::filesystem::path weights = scratch.path() / "run" / "model.safetensors";
    const std::string good = read_text(weights);
    const Feed feed = Source();
    EXPECT_GT(trainer.evaluate(feed, 0, 2), 0);
    const std::vector<std::string> states = trainer.kept_states();
    for (const std::string& name : {states.front(), states.back()}) {
        const std::vector<float> before = trainer.state().read(name);
        std::vector<float> spoilt = before;
        spoilt.back() = std::numeric_limits<float>::infinity();
        trainer.state().write(name, spoilt);
        expect_holds(complaint<NotFinite>([&] { run.save(trainer, {}); }), text(name, ": element ", spoilt.size() - 1));
        EXPECT_EQ(read_text(weights), good);
        trainer.state().write(name, before);
    }
    std::vector<float> spoilt = trainer.state().read("wte.weight");
    for (float& value : spoilt) value = std::numeric_limits<float>::quiet_NaN();
    trainer.state().write("wte.weight", spoilt);
    expect_holds(complaint<NotFinite>([&] { trainer.evaluate(feed, 0, 2); }),
                 "wte.weight: element 0 of [17, 24] is nan");
    expect_holds(complaint<NotFinite>([&] { run.save_best(trainer, {}); }), "wte.weight");
    EXPECT_FALSE(std::filesystem::exists(scratch.path() / "run" / "best"));
}

TEST(DeviceTrainer, AFreshRunTakesAnothersPlaceWithItsFirstCheckpoint) {
    const Scratch scratch;
    for (const char* old : {"config.json", "chars.json", "metrics.jsonl", "best/model.safetensors", "notes.txt"})
        scratch.file(old, "old");
    expect_holds(complaint([&] { RunDirectory::create(scratch.path(), false, {}); }),
                 "already holds a run (metrics.jsonl)");
    EXPECT_FALSE(std::filesystem::exists(scratch.path() / ".lock"));
    Trainer trainer(shared_device(), loss_of, loss_of, {});
    RunDirectory run = RunDirectory::create(scratch.path(), true, {});
    run.describe({{"config.json", "new"}}, "");
    EXPECT_TRUE(run.replaces() && !run.begun());
    EXPECT_EQ(read_text(scratch.path() / "metrics.jsonl"), "old");
    run.save(trainer, {});
    EXPECT_TRUE(!run.replaces() && run.begun());
    EXPECT_EQ(read_text(scratch.path() / "metrics.jsonl"), "");
    EXPECT_EQ(read_text(scratch.path() / "config.json"), "new");
    EXPECT_EQ(read_text(scratch.path() / "notes.txt"), "old");
    EXPECT_FALSE(std::filesystem::exists(scratch.path() / "chars.json"));
    EXPECT_FALSE(std::filesystem::exists(scratch.path() / "best"));
}

/// Rows of a matrix that an update changed, largest change first.
std::vector<std::int32_t> moved_rows(const std::vector<float>& before, const std::vector<float>& after, int width) {
    std::vector<std::pair<float, std::int32_t>> moves;
    for (std::size_t i = 0; i < before.size(); i += static_cast<std::size_t>(width)) {
        float move = 0;
        for (std::size_t c = i; c < i + static_cast<std::size_t>(width); ++c)
            move = std::max(move, std::abs(after[c] - before[c]));
        if (move > 0) moves.emplace_back(-move, static_cast<std::int32_t>(i) / width);
    }
    std::ranges::sort(moves);
    std::vector<std::int32_t> rows;
    for (const auto& [move, row] : moves) rows.push_back(row);
    return rows;
}

TEST(DeviceTrainer, TokensAbove65536AreThemselves) {
    Gpt2Config model = tiny_gpt2("standard");
    model.vocab_size = 70001;
    model.n_embd = 6;
    model.n_layer = 1;
    model.tie_word_embeddings = false;
    const LossGraph loss = [&](const Scope& scope) { return language_loss(scope, model, 1, 3); };
    TrainerConfig config;
    config.optimizer = {.kind = OptimizerKind::sgd, .weight_decay = 0, .grad_clip = 0};
    Trainer trainer(shared_device(), loss, loss, config);
    const Batch batch{{"tokens", {65537, 3, 70000}}, {"targets", {66000, 70000, 65536}}};
    const auto embedded = trainer.state().read("wte.weight"), head = trainer.state().read("lm_head.weight");
    trainer.step(0, 1.0, [&](Program& program, std::uint64_t) { write_batch(program, batch); });
    auto read = moved_rows(embedded, trainer.state().read("wte.weight"), 6);
    std::ranges::sort(read);
    EXPECT_EQ(read, (std::vector<std::int32_t>{3, 65537, 70000}));
    auto wanted = moved_rows(head, trainer.state().read("lm_head.weight"), 6);  // targets moved farthest by far
    wanted.resize(3);
    std::ranges::sort(wanted);
    EXPECT_EQ(wanted, (std::vector<std::int32_t>{65536, 66000, 70000}));
}

}  // namespace
}  // namespace vkf::test
