#include "models/gpt2.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "device_fixture.h"
#include "models/train/token_feed.h"
#include "program/program.h"
#include "tiny_gpt2.h"

namespace vkf::test {
namespace {

class DeviceVariant : public ::testing::TestWithParam<std::string> {};

TEST_P(DeviceVariant, NeverSeesTheFuture) {
    Graph graph;
    Parameters parameters;
    graph.output("logits", language_logits(Scope(graph, parameters), tiny_gpt2(GetParam()),
                                           graph.input("tokens", {DType::i32, {1, 12}})));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    for (const Parameter& p : parameters.list()) state.write(p.name, initial_values(p, 5));
    std::vector<std::int32_t> tokens{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
    program.write("tokens", tokens);
    program.run();
    const std::vector<float> before = program.read("logits");
    tokens[7] = 11;
    program.write("tokens", tokens);
    program.run();
    const std::vector<float> after = program.read("logits");
    const std::size_t changed = 7 * 17;
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + changed, after.begin()));
    EXPECT_FALSE(std::equal(before.begin() + changed, before.end(), after.begin() + changed));
}

TEST(HostGpt2, DropsWhereNanoGptDoes) {
    Graph graph;
    Parameters parameters;
    const DropoutState dropout{.dropout = 0.5f, .seed = graph.input("seed", {DType::i32, {2}})};
    language_loss(Scope(graph, parameters, dropout), tiny_gpt2("standard"), 1, 12);
    std::vector<std::string> places;
    for (const Node& node : graph.nodes())
        if (node.op->name() == "dropout") places.push_back(node.scope);
    const std::vector<std::string> wanted{"drop", "h.0.attn.c_proj", "h.0.mlp.c_proj", "h.1.attn.c_proj",
                                          "h.1.mlp.c_proj"};
    EXPECT_EQ(places, wanted);
}

Trainer trainer_of(const Gpt2Config& model, std::int64_t rows, const TrainerConfig& config) {
    const auto loss = [&](const Scope& scope) { return language_loss(scope, model, rows, 12); };
    return Trainer(shared_device(), loss, loss, config);
}

TEST_P(DeviceVariant, LearnsOneBatchByHeart) {
    TrainerConfig config;
    config.optimizer.weight_decay = 0;
    Trainer trainer = trainer_of(tiny_gpt2(GetParam()), 2, config);
    const Batch batch = tiny_batch();
    double loss = 0;
    const Feed feed = [&](Program& program, std::uint64_t) { write_batch(program, batch); };
    for (std::int64_t it = 0; it < 150; ++it) loss = trainer.step(it, 1e-2, feed).loss;
    EXPECT_LT(loss, 0.05);
}

INSTANTIATE_TEST_SUITE_P(All, DeviceVariant, ::testing::ValuesIn(variant_names()), variant_id);

TEST(DevicePlan, TheTrainingStepsArenaIsWithinATenthOfTheLiveSetBound) {
    Gpt2Config model = tiny_gpt2("belief-star");
    model.n_embd = 96;
    model.n_layer = 4;
    const Trainer trainer = trainer_of(model, 4, {});
    const MemoryUse& memory = trainer.programs()[0]->memory();
    EXPECT_LE(static_cast<double>(memory.arena), 1.1 * static_cast<double>(memory.bound));
}

TEST(DeviceTraining, AccumulatedMicroBatchesEqualOneBatch) {
    const auto train = [](std::int64_t rows, std::int64_t micro_batches) {
        const Feed feed = [&](Program& program, std::uint64_t number) {
            Batch batch;
            for (std::int64_t i = 0; i < rows * 12; ++i) {
                const auto token = static_cast<std::int64_t>(number) * rows * 12 + i;
                batch.tokens.push_back(static_cast<std::int32_t>(token * token % 17));
                batch.targets.push_back(static_cast<std::int32_t>(token * 3 % 17));
            }
            write_batch(program, batch);
        };
        TrainerConfig config;
        config.gradient_accumulation_steps = micro_batches;
        Trainer trainer = trainer_of(tiny_gpt2("belief"), rows, config);
        std::vector<double> losses;
        for (std::int64_t it = 0; it < 5; ++it) losses.push_back(trainer.step(it, 1e-3, feed).loss);
        return losses;
    };
    const std::vector<double> whole = train(4, 1), parts = train(2, 2);
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(whole[i], parts[i], 2e-6 * whole[i]) << "step " << i;
}

TEST(DeviceTraining, DropsOtherElementsInEveryMicroBatch) {
    TrainerConfig config;
    config.dropout = 0.5f;
    config.gradient_accumulation_steps = 2;
    Trainer trainer = trainer_of(tiny_gpt2("standard"), 2, config);
    const Batch batch = tiny_batch();
    const Feed feed = [&](Program& program, std::uint64_t) { write_batch(program, batch); };
    // At a rate of 0 all steps see one model and one batch.
    const double evaluated = trainer.evaluate(feed, 0, 1), first = trainer.step(0, 0.0, feed).loss;
    EXPECT_NE(first, evaluated);
    EXPECT_NE(first, trainer.step(1, 0.0, feed).loss);
    EXPECT_EQ(first, trainer.step(0, 0.0, feed).loss);
}

TEST(DeviceTraining, EvaluatesTheMeanOverItsBatches) {
    Trainer trainer = trainer_of(tiny_gpt2("standard"), 2, {});
    const Feed feed = [](Program& program, std::uint64_t number) {
        Batch batch = tiny_batch();
        for (std::int32_t& target : batch.targets) target = (target + static_cast<std::int32_t>(number)) % 17;
        write_batch(program, batch);
    };
    const double each[] = {trainer.evaluate(feed, 4, 1), trainer.evaluate(feed, 5, 1), trainer.evaluate(feed, 6, 1)};
    EXPECT_NE(each[0], each[1]);
    EXPECT_DOUBLE_EQ(trainer.evaluate(feed, 4, 3), (each[0] + each[1] + each[2]) / 3);
}

}  // namespace
}  // namespace vkf::test
