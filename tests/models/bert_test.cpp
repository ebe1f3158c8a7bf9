// BERT: its loss with a bias per token, what it learns, and files from other programs.

#include "models/families/bert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files/safetensors.h"
#include "device_fixture.h"
#include "models/files/config_json.h"
#include "models/files/weights.h"
#include "models/masked_language_model.h"
#include "ops/backward.h"
#include "ops/loss/cross_entropy.h"
#include "program/program.h"
#include "scratch.h"
#include "tiny_gpt2.h"

namespace vkf::test {
namespace {

BertConfig tiny_bert(std::string_view variant = "standard") {
    BertConfig c;
    c.vocab_size = 19;
    c.max_position_embeddings = 12;
    c.hidden_size = 24;
    c.intermediate_size = 0;
    c.num_hidden_layers = 2;
    c.num_attention_heads = 3;
    c.mask_token_id = 18;
    c.attention = attention_of(variant, 3.0f);
    return c;
}

/// Writes the initial values of all parameters, and other values than 0 and 1 to biases and norms.
void fill(const Parameters& parameters, State& state) {
    for (const Parameter& parameter : parameters.list()) {
        Random random(3, parameter.name);
        std::vector<float> values = initial_values(parameter, 5);
        for (float& value : values) value += 0.3f * static_cast<float>(random.normal());
        state.write(parameter.name, values);
    }
}

/// Loss, likeliest tokens and gradients of an evaluation are those of the logits with their bias.
TEST(DeviceBert, LossAndPredictionsAreThoseOfTheLogits) {
    const ModelConfig config = tiny_bert();
    State state(shared_device());
    std::vector<std::int32_t> tokens(15), targets(15, -1);
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int32_t>(i * 7 % 19);
    targets[2] = 4, targets[9] = 18, targets[14] = 0;
    Parameters parameters;
    /// A graph that outputs a loss and the gradients of all parameters, and its program after a run.
    const auto run = [&](Graph& graph, Tensor loss) {
        graph.output("loss", loss);
        std::vector<Tensor> wrt;
        for (const Parameter& p : parameters.list()) wrt.push_back(p.tensor);
        const std::vector<Tensor> d = gradients(loss, wrt);
        for (std::size_t i = 0; i < wrt.size(); ++i) graph.output("d." + parameters.list()[i].name, d[i]);
        auto program = std::make_unique<Program>(shared_device(), graph, state);
        fill(parameters, state);
        program->write("tokens", tokens);
        program->write("targets", targets);
        program->run();
        return program;
    };
    Graph evaluation, plain;
    const auto found = run(evaluation, language_evaluation(Scope(evaluation, parameters), config, 3, 5));
    const TensorType type{DType::i32, {3, 5}};
    const Tensor logits = language_logits(Scope(plain, parameters), config, plain.input("tokens", type));
    plain.output("logits", logits);
    const auto wanted = run(plain, cross_entropy(logits, plain.input("targets", type)));

    EXPECT_NEAR(found->read_scalar("loss"), wanted->read_scalar("loss"), 1e-5);
    for (const Parameter& p : parameters.list()) {
        const std::vector<float> d = found->read("d." + p.name), right = wanted->read("d." + p.name);
        ASSERT_EQ(d.size(), right.size());
        for (std::size_t i = 0; i < d.size(); ++i) ASSERT_NEAR(d[i], right[i], 2e-5) << p.name << " " << i;
    }
    const std::vector<float> rows = wanted->read("logits");
    const std::vector<std::int32_t> likeliest = found->read_ints("likeliest");
    ASSERT_EQ(likeliest.size(), 15u);
    for (std::size_t i = 0; i < likeliest.size(); ++i) {
        const auto row = std::span(rows).subspan(i * 19, 19);
        EXPECT_EQ(likeliest[i], std::ranges::max_element(row) - row.begin()) << i;
    }
}

class DeviceBertVariant : public ::testing::TestWithParam<std::string> {};

/// The mask's position says nothing of the word, so only the words on both sides can tell it.
TEST_P(DeviceBertVariant, LearnsTheHiddenWordsOfABatchByHeart) {
    const ModelConfig config = tiny_bert(GetParam());
    std::vector<std::uint16_t> text(13);
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<std::uint16_t>(i * 7 % 17);
    const Batches batches("train", text, {Order::random, 4, 12, 1, language_objective(config)});
    const Batch batch = batches.at(2);
    EXPECT_GT(std::ranges::count_if(batch.at("targets"), [](std::int32_t t) { return t >= 0; }), 2);
    TrainerConfig settings;
    settings.optimizer.weight_decay = 0;
    Trainer trainer(
        shared_device(), [&](const Scope& scope) { return language_loss(scope, config, 4, 12); },
        [&](const Scope& scope) { return language_evaluation(scope, config, 4, 12); }, settings);
    const Feed feed = [&](Program& program, std::uint64_t) { write_batch(program, batch); };
    for (std::int64_t it = 0; it < 100; ++it) trainer.step(it, 1e-2, feed);
    Predictions predictions;
    const double loss = trainer.evaluate(
        feed, 0, 1, [&](Program& program) { predictions.add(program.read_ints("likeliest"), batch.at("targets")); });
    EXPECT_LT(loss, 0.05);
    EXPECT_EQ(predictions.accuracy(), 1);
}

INSTANTIATE_TEST_SUITE_P(All, DeviceBertVariant, ::testing::ValuesIn(variant_names()), variant_id);

/// Files from other programs have parts that predict next sentences, the table and the bias twice, and norms with
/// TensorFlow's names.
TEST(DeviceBert, TensorsGoByTheirNamesInOtherPrograms) {
    const Scratch scratch;
    const ModelConfig config = tiny_bert();
    Graph graph;
    Parameters parameters;
    language_logits(Scope(graph, parameters), config, graph.input("tokens", {DType::i32, {1, 4}}));
    const auto write = [&](float head) {
        std::vector<TensorSource> sources;
        const auto add = [&](const std::string& name, const Shape& shape, std::vector<float> values) {
            const auto extents = shape.extents();
            sources.push_back({name, StoredType::F32, {extents.begin(), extents.end()}, [values](FileWriter& file) {
                                   write_floats(file, values, StoredType::F32);
                               }});
        };
        for (const Parameter& p : parameters.list()) {
            std::string name = p.name;
            if (name.ends_with(".LayerNorm.weight")) name.replace(name.size() - 6, 6, "gamma");
            if (name.ends_with(".LayerNorm.bias")) name.replace(name.size() - 4, 4, "beta");
            EXPECT_EQ(name == p.name, p.name.find("LayerNorm") == std::string::npos) << p.name;
            add(name, p.shape,
                std::vector<float>(static_cast<std::size_t>(p.shape.elements()), static_cast<float>(p.name.size())));
        }
        const Shape table{19, 24};
        add("cls.predictions.decoder.weight", table,
            std::vector<float>(
                19 * 24, static_cast<float>(std::string("bert.embeddings.word_embeddings.weight").size()) + head));
        add("cls.predictions.decoder.bias", {19}, std::vector<float>(19));
        add("bert.embeddings.position_ids", {1, 12}, std::vector<float>(12));
        add("bert.pooler.dense.weight", {24, 24}, std::vector<float>(24 * 24));
        add("bert.pooler.dense.bias", {24}, std::vector<float>(24));
        add("cls.seq_relationship.weight", {2, 24}, std::vector<float>(48));
        add("cls.seq_relationship.bias", {2}, std::vector<float>(2));
        write_safetensors(scratch.path() / "model.safetensors", sources);
    };
    State state(shared_device());
    Program program(shared_device(), graph, state);
    const auto load = [&] {
        return complaint([&] {
            load_weights(scratch.path() / "model.safetensors", parameters.list(), state, config.family().tensors);
        });
    };
    write(0);
    EXPECT_EQ(load(), "");
    for (const Parameter& p : parameters.list())
        EXPECT_EQ(state.read(p.name),
                  std::vector<float>(static_cast<std::size_t>(p.shape.elements()), static_cast<float>(p.name.size())))
            << p.name;
    write(1);
    expect_holds(load(), "different, wanted equal: cls.predictions.decoder.weight");
}

constexpr const char* SIZES =
    R"({"model_type": "bert", "vocab_size": 30, "max_position_embeddings": 16, "hidden_size": 12,
        "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 24)";

TEST(HostBert, KeysOfOtherProgramsAreReadKnownOrRefused) {
    const auto read = [&](const std::string& keys) {
        return parse_config_json(SIZES + keys + "}", "config.json").as<BertConfig>();
    };
    const BertConfig c = read(
        R"(, "architectures": ["BertForMaskedLM"], "attention_probs_dropout_prob": 0.1, "classifier_dropout": 0.1,
             "directionality": "bidi", "gradient_checkpointing": false, "hidden_act": "gelu",
             "hidden_dropout_prob": 0.1, "initializer_range": 0.02, "layer_norm_eps": 1e-12, "pad_token_id": 0,
             "pooler_fc_size": 768, "pooler_num_attention_heads": 12, "pooler_num_fc_layers": 3,
             "pooler_size_per_head": 128, "pooler_type": "first_token_transform",
             "position_embedding_type": "absolute", "type_vocab_size": 2, "use_cache": true)");
    EXPECT_EQ(c.layer_norm_eps, 1e-12f);
    EXPECT_EQ(c.mask_token_id, -1);
    EXPECT_EQ(c.mask_share, 0.15f);
    EXPECT_EQ(read(R"(, "mask_token_id": 0)").mask_token_id, 0);
    expect_holds(complaint([&] { read(R"(, "mask_token_id": 30)"); }),
                 "mask_token_id is 30, wanted less than vocab_size 30");
    expect_holds(complaint([&] { read(R"(, "position_embedding_type": "relative_key")"); }),
                 "which is not supported, wanted \"absolute\"");
    expect_holds(complaint([&] { read(R"(, "is_encoder_decoder": true)"); }), "wanted false");
    BertConfig uneven = c;
    uneven.num_attention_heads = 5;
    expect_holds(complaint([&] { validate(uneven); }), "hidden_size 12 is not divisible by num_attention_heads 5");
}

TEST(HostBert, TheMaskTokenMustBeKnownToHideWords) {
    const ModelConfig config = parse_config_json(std::string(SIZES) + "}", "config.json");
    Batch batch{{"tokens", {1, 2}}, {"targets", {2, 3}}};
    Random random(1, "words", 0);
    expect_holds(complaint([&] { language_objective(config)(batch, random); }), "'mask_token_id' is missing");
}

}  // namespace
}  // namespace vkf::test
