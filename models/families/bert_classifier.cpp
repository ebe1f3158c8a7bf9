#include "models/families/bert_classifier.h"

#include <utility>

#include "models/families/bert.h"
#include "models/layers.h"
#include "ops/attention/attention.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

constexpr std::pair<const char*, Pooling> pooling_words[] = {{"first", Pooling::first}, {"mean", Pooling::mean}};

/// Means over the first lengths[b] positions of each row of x [B, T, C]: [B, C]. They are attention by queries of
/// zeros, which give all keys that count the same weight.
Tensor mean_of_rows(const BertClassifierConfig& c, Tensor x, Tensor lengths) {
    const std::int64_t batch = x.shape()[0];
    const Tensor zeros = fill(x.graph(), {batch, 1, c.hidden_size}, 0.0f);
    const Tensor mean = attention(zeros, x, x, {.heads = c.num_attention_heads, .mask = {.key_lengths = lengths}});
    return reshape(mean, {batch, c.hidden_size});
}

Features features(const Scope& scope, const BertClassifierConfig& c, const Sentences& sequences) {
    const Tensor x = bert_encode(scope, c, sequences.tokens, sequences.lengths).x;
    const Tensor pooled = c.pooling == Pooling::mean ? mean_of_rows(c, x, sequences.lengths)
                                                     : reshape(slice(x, 1, 0, 1), {x.shape()[0], c.hidden_size});
    const Scope pooler = scope / "bert" / "pooler", classifier = scope / "classifier";
    const Tensor state = activate(linear(pooler / "dense", pooled, c.hidden_size, bert_linear()), Activation::tanh);
    return {classifier.drop(state), classifier.parameter("weight", {c.num_labels, c.hidden_size}, Init::normal(0.02f)),
            classifier.parameter("bias", {c.num_labels}, Init::zeros())};
}

double matrix_elements(const BertClassifierConfig& c) {
    return bert_matrix_elements(c) + static_cast<double>(c.hidden_size) * static_cast<double>(c.num_labels);
}

/// Sizes for sequences of `length` tokens, each of which is an item.
ModelSizes model_sizes(const BertClassifierConfig& c, std::int64_t length) {
    const auto h = static_cast<double>(c.hidden_size);
    const Formula logits = logits_flops(c.num_labels, c.hidden_size);
    ModelSizes made = bert_encoder_sizes(c, length);
    made.tables.push_back({"map of the pooled state", "bert.pooler.dense", "h", c.hidden_size});
    made.tables.push_back({"classifier", "classifier", "c", c.num_labels});
    made.other_flops = {"2·c·h + 2·h²", logits.value + 2 * h * h};
    made.item_tokens = length;
    return made;
}

ModelScale model_scale(const BertClassifierConfig& c) {
    return bert_scale(c);
}

void resize(BertClassifierConfig& c, const ModelScale& wanted) {
    resize_bert(c, wanted);
}

void adopt_encoder(ModelConfig& own, const ModelConfig& pretrained) {
    BertClassifierConfig made = own.as<BertClassifierConfig>();
    static_cast<BertEncoderConfig&>(made) = pretrained.as<BertConfig>();
    own = made;
}

/// Configuration of BERT-base, for the data's vocabulary and classes.
BertClassifierConfig base_classifier() {
    BertClassifierConfig c;
    c.vocab_size = 0;
    c.intermediate_size = 0;
    c.num_labels = 0;
    return c;
}

}  // namespace

std::vector<Field> BertClassifierConfig::fields() {
    return encoder_fields({
        {.key = "pooling",
         .value = choice(pooling, pooling_words),
         .help = "state of a sequence: its first token's, or the mean over its tokens"},
        {.key = "num_labels", .value = IntRange{&num_labels, 2, 10'000'000}, .dimension = Dimension::classes},
        {.key = "id2label", .value = ClassNames{&labels, &num_labels}},
    });
}

const Family& BertClassifierConfig::family() {
    return bert_classifier_family();
}

const Family& bert_classifier_family() {
    static const Family family{
        .model_type = "bert",
        .command = "bert-classifier",
        .title = "BERT classifier",
        .architecture = "BertForSequenceClassification",
        .recipe = "configs/listops-cpu.toml",
        .defaults = [] { return ModelConfig(BertClassifierConfig()); },
        .fresh = [] { return ModelConfig(base_classifier()); },
        .check = [](const ModelConfig& c) { check_bert_encoder(c.as<BertClassifierConfig>()); },
        .matrix_elements = [](const ModelConfig& c) { return matrix_elements(c.as<BertClassifierConfig>()); },
        // Other programs store numbers of positions.
        .tensors = {.buffers = {"bert.embeddings.position_ids"}, .elsewhere = bert_tensorflow_names},
        .graph = SequenceGraph{[](const Scope& scope, const ModelConfig& c, const Sentences& sequences) {
            return features(scope, c.as<BertClassifierConfig>(), sequences);
        }},
        .pretrained = {{.family = bert_family,
                        .adopt = adopt_encoder,
                        .heads = {"bert.pooler.", "classifier."},
                        .tensors = {.buffers = {"bert.embeddings.position_ids"},
                                    .others = {"cls."},
                                    .elsewhere = bert_tensorflow_names}}},
        .accounting = &accounting_by<BertClassifierConfig, model_sizes, model_scale, resize>,
    };
    return family;
}

}  // namespace vkf
