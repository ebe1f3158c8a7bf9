// Device memory of training: as much as predicted, and less if blocks are computed again.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "apps/inspect/analysis.h"
#include "device_fixture.h"
#include "models/families/gpt2.h"
#include "models/families/vit.h"
#include "models/train/trainer.h"

namespace vkf::test {
namespace {

constexpr std::int64_t batch = 4, length = 48;

Gpt2Config text_model() {
    Gpt2Config c{.vocab_size = 131, .n_positions = length, .n_embd = 48, .n_layer = 3, .n_head = 3};
    c.attention.set_variant("belief-star");
    return c;
}

VitConfig image_model() {
    return {.image_size = 16,
            .patch_size = 4,
            .hidden_size = 48,
            .num_hidden_layers = 3,
            .num_attention_heads = 3,
            .intermediate_size = 96,
            .num_labels = 10,
            .attention = {}};
}

struct Subject {
    LossGraph loss;
    Feed feed;
};

Subject text_subject() {
    return {[c = text_model()](const Scope& scope) { return language_loss(scope, c, batch, length); },
            [](Program& program, std::uint64_t number) {
                std::vector<std::int32_t> tokens;
                for (std::uint64_t i = 0; i <= batch * length; ++i)
                    tokens.push_back(static_cast<std::int32_t>((i * i + 7 * number) % 131));
                program.write("tokens", std::span(tokens).first(batch * length));
                program.write("targets", std::span(tokens).last(batch * length));
            }};
}

Subject image_subject() {
    return {[c = image_model()](const Scope& scope) { return image_loss(scope, c, batch); },
            [](Program& program, std::uint64_t number) {
                std::vector<float> images(batch * 3 * 16 * 16), targets(batch * 10);
                for (std::size_t i = 0; i < images.size(); ++i)
                    images[i] = static_cast<float>(std::sin(static_cast<double>(i * i + number)));
                for (std::size_t i = 0; i < batch; ++i) targets[10 * i + (3 * i + number) % 10] = 1.0f;
                program.write("images", images);
                program.write("targets", targets);
            }};
}

TrainerConfig config_of(std::int64_t micro_batches, float dropout, float drop_path, bool recompute) {
    TrainerConfig config{.gradient_accumulation_steps = micro_batches,
                         .dropout = dropout,
                         .drop_path = drop_path,
                         .recompute = recompute,
                         .optimizer = {}};
    return config;
}

/// All results of three steps: losses, norms, parameters and moments.
std::map<std::string, std::vector<float>> trained(const Subject& subject, const TrainerConfig& config) {
    Trainer trainer(shared_device(), subject.loss, subject.loss, config);
    std::map<std::string, std::vector<float>> found;
    for (std::int64_t it = 0; it < 3; ++it) {
        const StepResult result = trainer.step(it, 1e-3, subject.feed);
        found["loss"].push_back(static_cast<float>(result.loss));
        found["norm"].push_back(static_cast<float>(result.grad_norm));
    }
    for (const std::string& name : trainer.kept_states()) found[name] = trainer.state().read(name);
    return found;
}

std::int64_t arena(const Subject& subject, const TrainerConfig& config) {
    StepGraphs graphs(subject.loss, config);
    return analyse(graphs, traits(shared_device(), graphs.step)).arena;
}

TEST(DeviceRecompute, ALanguageModelLearnsTheSameToTheLastBitInLessMemory) {
    const Subject subject = text_subject();
    for (const std::int64_t micro_batches : {1, 2}) {
        const TrainerConfig kept = config_of(micro_batches, 0.1f, 0, false),
                            again = config_of(micro_batches, 0.1f, 0, true);
        EXPECT_EQ(trained(subject, kept), trained(subject, again)) << micro_batches << " micro-batches";
        EXPECT_LT(static_cast<double>(arena(subject, again)), 0.8 * static_cast<double>(arena(subject, kept)));
    }
}

TEST(DeviceRecompute, AVisionModelLearnsTheSameToTheLastBitInLessMemory) {
    const Subject subject = image_subject();
    const TrainerConfig kept = config_of(1, 0.1f, 0.2f, false), again = config_of(1, 0.1f, 0.2f, true);
    EXPECT_EQ(trained(subject, kept), trained(subject, again));
    EXPECT_LT(static_cast<double>(arena(subject, again)), 0.8 * static_cast<double>(arena(subject, kept)));
}

TEST(DeviceMemory, IsWhatWasPredictedAndHardlyMoreThanWhatLivesAtOnce) {
    for (const Subject& subject : {text_subject(), image_subject()})
        for (const std::int64_t micro_batches : {1, 3})
            for (const bool recompute : {false, true})
                for (const float dropout : {0.0f, 0.1f}) {
                    const TrainerConfig config = config_of(micro_batches, dropout, 0, recompute);
                    SCOPED_TRACE(testing::Message() << micro_batches << " micro-batches, recompute " << recompute
                                                    << ", dropout " << dropout);
                    StepGraphs graphs(subject.loss, config);
                    const Analysis predicted = analyse(graphs, traits(shared_device(), graphs.step));
                    const std::uint64_t before = shared_device().allocated_bytes();
                    Trainer trainer(shared_device(), subject.loss, subject.loss, config);
                    trainer.start(0, 1e-3, subject.feed);
                    trainer.start(1, 1e-3, subject.feed);
                    while (trainer.under_way() > 0) trainer.finish();
                    trainer.evaluate(subject.feed, 0, 1);
                    const auto held = static_cast<double>(shared_device().allocated_bytes() - before);
                    const auto bytes = static_cast<double>(predicted.bytes());
                    EXPECT_NEAR(held, bytes, 0.05 * bytes);
                    EXPECT_LE(static_cast<double>(predicted.arena), 1.1 * static_cast<double>(predicted.bound));
                }
}

TEST(DeviceMemory, PhasesArePredicted) {
    DeviceTraits gpu = traits(shared_device());
    gpu.cpu = false;
    for (const Subject& subject : {text_subject(), image_subject()})
        for (const DeviceTraits& device : {traits(shared_device()), gpu}) {
            StepGraphs graphs(subject.loss, config_of(1, 0.1f, 0, false));
            const Analysis predicted = analyse(graphs.step, device);
            State state(shared_device());
            const Program program(shared_device(), graphs.step, state, {.segment_ms = 1e9, .traits = device});
            std::size_t phases = 0;
            for (const Recording* recording : program.recordings())
                for (const Segment& segment : recording->segments) phases += segment.size();
            EXPECT_EQ(static_cast<std::size_t>(predicted.phases) + 2, phases);  // 2: copies of inputs and outputs
            EXPECT_EQ(static_cast<std::size_t>(predicted.dispatches), program.dispatches());
        }
}

}  // namespace
}  // namespace vkf::test
