#include "models/families/gpt2.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "device_fixture.h"
#include "graph/reference.h"
#include "models/files/config_json.h"
#include "models/train/token_feed.h"
#include "program/program.h"
#include "scratch.h"
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

/// Logits in double of a freshly initialised model whose query weights are multiplied by one factor per block.
std::vector<double> logits_of(const Gpt2Config& c, const std::vector<double>& query_factors) {
    Graph graph;
    Parameters parameters;
    graph.output("logits", language_logits(Scope(graph, parameters), c, graph.input("tokens", {DType::i32, {1, 6}})));
    Arrays leaves{{"tokens", {{1, 6}, {3, 1, 4, 1, 5, 9}}}};
    for (const Parameter& parameter : parameters.list()) {
        const std::vector<float> values = initial_values(parameter, 5);
        Array& array = leaves[parameter.name] = {parameter.shape, {values.begin(), values.end()}};
        for (std::size_t block = 0; block < query_factors.size(); ++block) {
            if (parameter.name != text("h.", block, ".attn.c_attn.weight")) continue;
            for (std::size_t i = 0; i < array.at.size(); ++i)
                if (i % static_cast<std::size_t>(3 * c.n_embd) < static_cast<std::size_t>(c.n_embd))
                    array.at[i] *= 30 * query_factors[block];  // 30: so that scores matter
        }
    }
    return interpret(graph, leaves).at("logits").at;
}

/// Scaling scores equals scaling queries: by 1/(layer + 1), and by √8 if heads of width 8 lose the factor 1/√8.
TEST(HostGpt2, ScoresAreScaledAsTheConfigurationSays) {
    for (const char* variant : {"standard", "belief", "differential"}) {
        Gpt2Config c = tiny_gpt2(variant);
        const double width = variant == std::string("differential") ? 4 : 8;
        const auto expect_like = [&](const std::vector<double>& factors) {
            const std::vector<double> found = logits_of(c, {1, 1}), wanted = logits_of(tiny_gpt2(variant), factors);
            for (std::size_t i = 0; i < found.size(); ++i)
                ASSERT_NEAR(found[i], wanted[i], 1e-6) << variant << " " << i;
        };
        const std::vector<double> plain = logits_of(c, {1, 1});
        c.scale_attn_by_inverse_layer_idx = true;
        expect_like({1, 0.5});
        EXPECT_NE(logits_of(c, {1, 1}), plain);
        c.scale_attn_weights = false;
        expect_like({std::sqrt(width), std::sqrt(width) / 2});
        c.scale_attn_by_inverse_layer_idx = false;
        expect_like({std::sqrt(width), std::sqrt(width)});
    }
}

TEST(HostGpt2, KeysThatScaleScoresAreReadAndWritten) {
    const std::string sizes = R"({"vocab_size": 5, "n_positions": 8, "n_embd": 8, "n_layer": 1, "n_head": 2)";
    const auto read = [&](const std::string& keys) { return parse_config_json(sizes + keys + "}", "config.json"); };
    const ModelConfig scaled = read(R"(, "scale_attn_weights": false, "scale_attn_by_inverse_layer_idx": true)");
    EXPECT_FALSE(scaled.as<Gpt2Config>().scale_attn_weights);
    EXPECT_TRUE(scaled.as<Gpt2Config>().scale_attn_by_inverse_layer_idx);
    EXPECT_EQ(parse_config_json(config_json_text(scaled), "written").as<Gpt2Config>(), scaled.as<Gpt2Config>());
    EXPECT_TRUE(read("").as<Gpt2Config>().scale_attn_weights);
    EXPECT_EQ(read(R"(, "activation_function": "gelu_pytorch_tanh")").as<Gpt2Config>().activation,
              Activation::gelu_tanh);
    EXPECT_EQ(read(R"(, "activation_function": "swish")").as<Gpt2Config>().activation, Activation::silu);
}

/// Keys without a field: those that Hugging Face writes for GPT-2, and those that would change results.
TEST(HostGpt2, OtherKeysAreKnownOrRefused) {
    const std::string sizes = R"({"vocab_size": 5, "n_positions": 8, "n_embd": 8, "n_layer": 1, "n_head": 2)";
    const auto read = [&](const std::string& keys) { parse_config_json(sizes + ", " + keys + "}", "config.json"); };
    read(R"("attn_pdrop": 0.1, "bos_token_id": 4, "eos_token_id": [4, 3], "initializer_range": 0.02, "n_ctx": 8,
            "summary_type": "cls_index", "reorder_and_upcast_attn": true, "use_cache": true, "_commit": "x",
            "task_specific_params": {"text-generation": {"do_sample": true}}, "unknown": null, "unknown2": [],
            "add_cross_attention": false, "torch_dtype": "float32", "top_k": 50, "num_beams": 4)");
    expect_holds(complaint([&] { read(R"("add_cross_attention": true)"); }),
                 "config.json: 'add_cross_attention' is true, which is not supported, wanted false");
    expect_holds(complaint([&] { read(R"("residual_multiplier": 0.5)"); }), "is 0.5, which is not supported, wanted 1");
    expect_holds(complaint([&] { read(R"("clip_qkv": 8)"); }), "'clip_qkv' is 8, which is not supported, wanted null");
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
                batch["tokens"].push_back(static_cast<std::int32_t>(token * token % 17));
                batch["targets"].push_back(static_cast<std::int32_t>(token * 3 % 17));
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
    // With a rate of 0 all steps use the same model and batch.
    const double evaluated = trainer.evaluate(feed, 0, 1), first = trainer.step(0, 0.0, feed).loss;
    EXPECT_NE(first, evaluated);
    EXPECT_NE(first, trainer.step(1, 0.0, feed).loss);
    EXPECT_EQ(first, trainer.step(0, 0.0, feed).loss);
}

TEST(DeviceTraining, EvaluatesTheMeanOverItsBatches) {
    Trainer trainer = trainer_of(tiny_gpt2("standard"), 2, {});
    const Feed feed = [](Program& program, std::uint64_t number) {
        Batch batch = tiny_batch();
        for (std::int32_t& target : batch.at("targets")) target = (target + static_cast<std::int32_t>(number)) % 17;
        write_batch(program, batch);
    };
    const double each[] = {trainer.evaluate(feed, 4, 1), trainer.evaluate(feed, 5, 1), trainer.evaluate(feed, 6, 1)};
    EXPECT_NE(each[0], each[1]);
    EXPECT_DOUBLE_EQ(trainer.evaluate(feed, 4, 3), (each[0] + each[1] + each[2]) / 3);
}

}  // namespace
}  // namespace vkf::test
