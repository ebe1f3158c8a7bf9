// BERT as a classifier: what it learns, padding, and files from other programs.

#include "models/families/bert_classifier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/files/safetensors.h"
#include "device_fixture.h"
#include "golden.h"
#include "models/data/sequences/labelled_sequences.h"
#include "models/data/sequences/text_tokens.h"
#include "models/families/bert.h"
#include "models/files/config_json.h"
#include "models/files/weights.h"
#include "models/masked_language_model.h"
#include "models/train/token_feed.h"
#include "models/train/trainer.h"
#include "program/program.h"
#include "scratch.h"
#include "tiny_gpt2.h"

namespace vkf::test {
namespace {

BertClassifierConfig tiny_classifier(std::string_view variant = "standard", Pooling pooling = Pooling::first) {
    BertClassifierConfig c;
    c.vocab_size = 257;
    c.max_position_embeddings = 12;
    c.hidden_size = 24;
    c.intermediate_size = 0;
    c.num_hidden_layers = 2;
    c.num_attention_heads = 3;
    c.num_labels = 3;
    c.pooling = pooling;
    c.attention = attention_of(variant, 3.0f);
    return c;
}

struct Learned {
    double loss, accuracy;
};

/// Trains on texts whose class is their number of b's among a's, 0, 1 or more, in batches with empty rows, and
/// evaluates on the same texts.
Learned learned(const ModelConfig& config, std::int64_t steps) {
    LabelledTexts set{.name = "letters"};
    for (unsigned i = 0; i < 30; ++i) {
        const std::size_t length = 1 + i % 8;
        std::string letters;
        for (std::size_t at = 0; at < length; ++at) letters += (i * 2654435761u >> at & 4) != 0 ? 'b' : 'a';
        set.labels.push_back(std::to_string(std::min<std::int64_t>(2, std::ranges::count(letters, 'b'))));
        set.texts.push_back(letters);
    }
    const LabelledSequences sequences(set, *byte_tokenizer(), {}, 3, 12);
    const SequenceBatches batches("train", sequences, {.rows = 8, .buckets = 2, .seed = 1});
    LossGraphs training, evaluation;
    for (const SequenceShape& shape : batches.shapes()) {
        training.shapes.push_back([&config, shape](const Scope& scope) { return sequence_loss(scope, config, shape); });
        evaluation.shapes.push_back(
            [&config, shape](const Scope& scope) { return sequence_evaluation(scope, config, shape); });
    }
    training.shape_of = evaluation.shape_of = [&](std::uint64_t number) { return batches.shape_of(number); };
    evaluation.weight_of = [&](std::uint64_t number) { return static_cast<double>(batches.sequences(number)); };
    TrainerConfig settings;
    settings.optimizer.weight_decay = 0;
    Trainer trainer(shared_device(), training, evaluation, settings);
    std::vector<std::int32_t> targets;
    const Feed feed = [&](Program& program, std::uint64_t number) {
        const Batch batch = batches.at(number);
        write_batch(program, batch);
        targets = batch.at("targets");
    };
    for (std::int64_t it = 0; it < steps; ++it) trainer.step(it, 2e-3, feed);
    Predictions predictions;
    const double loss = trainer.evaluate(feed, 0, static_cast<std::int64_t>(batches.count()), [&](Program& program) {
        predictions.add(program.read_ints("likeliest"), targets);
    });
    EXPECT_EQ(predictions.count, 30);
    return {loss, predictions.accuracy()};
}

class DeviceBertClassifier : public ::testing::TestWithParam<std::string> {};

TEST_P(DeviceBertClassifier, LearnsTheClassesOfTextsByHeart) {
    const Learned found = learned(tiny_classifier(GetParam()), 400);
    EXPECT_LT(found.loss, 0.1);
    EXPECT_EQ(found.accuracy, 1);
}

INSTANTIATE_TEST_SUITE_P(All, DeviceBertClassifier, ::testing::ValuesIn(variant_names()), variant_id);

TEST(DeviceBertPooling, AMeanLearnsTheClassesOfTextsToo) {
    const Learned found = learned(tiny_classifier("standard", Pooling::mean), 400);
    EXPECT_LT(found.loss, 0.1);
    EXPECT_EQ(found.accuracy, 1);
}

/// Tokens behind a sequence's length, and rows of length 0, change no bit of any logit or gradient that counts.
TEST(DeviceBertPooling, PaddingChangesNothing) {
    for (const Pooling pooling : {Pooling::first, Pooling::mean}) {
        const ModelConfig config = tiny_classifier("standard", pooling);
        TrainerConfig settings;
        const auto after = [&](std::int32_t padding) {
            const SequenceShape shape{3, 7};
            const LossGraph loss = [&](const Scope& scope) { return sequence_loss(scope, config, shape); };
            Trainer trainer(shared_device(), loss, loss, settings);
            std::vector<std::int32_t> tokens(21, padding);
            for (std::size_t i = 0; i < 4; ++i) tokens[i] = static_cast<std::int32_t>(97 + i);
            for (std::size_t i = 7; i < 14; ++i) tokens[i] = static_cast<std::int32_t>(90 + i);
            const Batch batch{{"tokens", tokens}, {"lengths", {4, 7, 0}}, {"targets", {2, 0, -1}}};
            const auto feed = [&](Program& program, std::uint64_t) { write_batch(program, batch); };
            const double first = trainer.step(0, 1e-2, feed).loss, second = trainer.step(1, 1e-2, feed).loss;
            EXPECT_TRUE(std::isfinite(first));
            return std::pair(std::pair(first, second), trainer.state().read("classifier.weight"));
        };
        EXPECT_EQ(after(0), after(200));
    }
}

/// Hugging Face's class decides between the two families with one model_type, and two classes are not written.
TEST(HostBertClassifier, FilesOfHuggingFaceAreRead) {
    const std::string sizes =
        R"({"model_type": "bert", "vocab_size": 30, "max_position_embeddings": 16, "hidden_size": 8,
            "intermediate_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2)";
    const auto read = [&](const std::string& keys) { return parse_config_json(sizes + keys + "}", "config.json"); };
    const std::string own = R"(, "architectures": ["BertForSequenceClassification"], "classifier_dropout": null,
        "pooler_fc_size": 768, "position_embedding_type": "absolute", "problem_type": "single_label_classification")";
    EXPECT_EQ(read(own).as<BertClassifierConfig>().num_labels, 2);
    const ModelConfig named = read(own + R"(, "id2label": {"0": "neg", "1": "mid", "2": "pos"},
        "label2id": {"neg": 0, "mid": 1, "pos": 2})");
    EXPECT_EQ(named.size(Dimension::classes), 3);
    EXPECT_EQ(named.class_names(), (std::vector<std::string>{"neg", "mid", "pos"}));
    EXPECT_EQ(named.as<BertClassifierConfig>().pooling, Pooling::first);
    EXPECT_EQ(&read("").family(), &bert_family());
    EXPECT_EQ(&read(R"(, "architectures": ["BertForPreTraining"])").family(), &bert_family());
    expect_holds(complaint([&] { read(own + R"(, "num_labels": 1)"); }), "num_labels is 1");
}

/// All names are those of Hugging Face's class; norms may have TensorFlow's.
TEST(DeviceBertPooling, TensorsGoByTheirNamesInOtherPrograms) {
    const Scratch scratch;
    const ModelConfig config = tiny_classifier();
    Graph graph;
    Parameters parameters;
    sequence_loss(Scope(graph, parameters), config, {1, 4});
    std::vector<std::string> names;
    for (const Parameter& p : parameters.list()) names.push_back(p.name);
    for (const char* name :
         {"bert.embeddings.word_embeddings.weight", "bert.embeddings.LayerNorm.bias",
          "bert.encoder.layer.1.attention.self.query.weight", "bert.encoder.layer.1.output.dense.bias",
          "bert.pooler.dense.weight", "bert.pooler.dense.bias", "classifier.weight", "classifier.bias"})
        EXPECT_EQ(std::ranges::count(names, name), 1) << name;
    std::vector<TensorSource> sources;
    for (const Parameter& p : parameters.list()) {
        std::string name = p.name;
        if (name.ends_with(".LayerNorm.weight")) name.replace(name.size() - 6, 6, "gamma");
        if (name.ends_with(".LayerNorm.bias")) name.replace(name.size() - 4, 4, "beta");
        const auto extents = p.shape.extents();
        sources.push_back({name, StoredType::F32, {extents.begin(), extents.end()}, [&p](FileWriter& file) {
                               write_floats(file,
                                            std::vector<float>(static_cast<std::size_t>(p.shape.elements()),
                                                               static_cast<float>(p.name.size())),
                                            StoredType::F32);
                           }});
    }
    write_safetensors(scratch.path() / "model.safetensors", sources);
    State state(shared_device());
    state.reserve(graph);
    load_weights(scratch.path() / "model.safetensors", parameters.list(), state, config.family().tensors);
    for (const Parameter& p : parameters.list())
        EXPECT_EQ(state.read(p.name).front(), static_cast<float>(p.name.size())) << p.name;
}

/// All tensors of the encoder are the file's, and the head is a fresh model's.
TEST(DeviceBertClassifier, BeginsWithAnEncoderOfHiddenWords) {
    const std::filesystem::path folder = golden / "bert-untied";
    const PretrainedFamily* from = bert_classifier_family().pretrained_by(bert_family());
    ASSERT_TRUE(from);
    EXPECT_FALSE(bert_family().pretrained_by(bert_classifier_family()));
    ModelConfig config = tiny_classifier("belief");
    from->adopt(config, read_config_json(folder / "config.json"));
    EXPECT_EQ(config.size(Dimension::classes), 3);
    EXPECT_EQ(config.attention().title(), "standard");

    Graph graph;
    Parameters parameters;
    graph.output("loss", sequence_loss(Scope(graph, parameters), config, {.rows = 2, .length = 5}));
    State state(shared_device());
    const Program program(shared_device(), graph, state);
    for (const Parameter& p : parameters.list()) state.write(p.name, initial_values(p, 3));
    load_pretrained(folder / "model.safetensors", parameters.list(), state, *from);
    const Safetensors file = Safetensors::open(folder / "model.safetensors");
    std::set<std::string> fresh;
    for (const Parameter& p : parameters.list()) {
        if (!file.contains(p.name)) fresh.insert(p.name);
        EXPECT_EQ(state.read(p.name), file.contains(p.name) ? file.read_f32(p.name) : initial_values(p, 3)) << p.name;
    }
    EXPECT_EQ(fresh, (std::set<std::string>{"bert.pooler.dense.weight", "bert.pooler.dense.bias", "classifier.weight",
                                            "classifier.bias"}));

    from->adopt(config, read_config_json(golden / "bert-one-token" / "config.json"));  // of one block instead of two
    EXPECT_THROW(load_pretrained(golden / "bert-one-token" / "model.safetensors", parameters.list(), state, *from),
                 InputError);
}

}  // namespace
}  // namespace vkf::test
