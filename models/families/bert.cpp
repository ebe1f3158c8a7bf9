#include "models/families/bert.h"

#include "base/error.h"
#include "models/layers.h"
#include "models/masked_language_model.h"
#include "ops/elementwise/activation.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

Features features(const Scope& scope, const BertConfig& c, Tensor tokens, bool last_only) {
    auto [x, words] = bert_encode(scope, c, tokens);
    if (last_only) x = slice(x, 1, tokens.shape()[1] - 1, 1);
    const Scope head = scope / "cls" / "predictions", transform = head / "transform";
    x = activate(linear(transform / "dense", x, c.hidden_size, bert_linear()), c.hidden_act);
    x = bert_norm(transform, c, x);
    const Tensor table =
        c.tie_word_embeddings
            ? words
            : (head / "decoder").parameter("weight", {c.vocab_size, c.hidden_size}, Init::normal(0.02f));
    return {x, table, head.parameter("bias", {c.vocab_size}, Init::zeros())};
}

void check(const BertConfig& c) {
    check_bert_encoder(c);
    require(c.mask_token_id < c.vocab_size, "mask_token_id is ", c.mask_token_id, ", wanted less than vocab_size ",
            c.vocab_size);
}

ModelSizes model_sizes(const BertConfig& c, std::int64_t length) {
    const auto h = static_cast<double>(c.hidden_size);
    const Formula logits = logits_flops(c.vocab_size, c.hidden_size);
    ModelSizes made = bert_encoder_sizes(c, length);
    made.tables.push_back({"map before the head", "cls.predictions.transform", "h", c.hidden_size});
    if (!c.tie_word_embeddings) made.tables.push_back({"head", "cls.predictions.decoder", "v", c.vocab_size});
    made.other_flops = {logits.symbols + " + 2·h²", logits.value + 2 * h * h};
    return made;
}

ModelScale model_scale(const BertConfig& c) {
    return bert_scale(c);
}

void resize(BertConfig& c, const ModelScale& wanted) {
    resize_bert(c, wanted);
}

/// Configuration of BERT-base, for the data's vocabulary.
BertConfig base() {
    BertConfig c;
    c.vocab_size = 0;
    c.intermediate_size = 0;
    return c;
}

}  // namespace

std::vector<Field> BertConfig::fields() {
    return encoder_fields({
        {.key = "tie_word_embeddings", .value = &tie_word_embeddings, .help = "one table for tokens and logits"},
        {.key = "mask_token_id",
         .value = IntRange{&mask_token_id, -1, 1'000'000'000},
         .dimension = Dimension::mask_token},
        {.key = "mask_share", .value = Number{&mask_share, 0, 1}, .help = "share of the words that training hides"},
    });
}

const Family& BertConfig::family() {
    return bert_family();
}

const Family& bert_family() {
    static const Family family{
        .model_type = "bert",
        .command = "bert",
        .title = "BERT",
        .architecture = "BertForMaskedLM",
        .recipe = "configs/novels-bert-cpu.toml",
        .defaults = [] { return ModelConfig(BertConfig()); },
        .fresh = [] { return ModelConfig(base()); },
        .check = [](const ModelConfig& c) { check(c.as<BertConfig>()); },
        .matrix_elements = [](const ModelConfig& c) { return bert_matrix_elements(c.as<BertConfig>()); },
        // Other programs store numbers of positions, the parts that predict next sentences, and the head's bias twice.
        .tensors = {.buffers = {"bert.embeddings.position_ids", "bert.pooler.dense.weight", "bert.pooler.dense.bias",
                                "cls.seq_relationship.weight", "cls.seq_relationship.bias",
                                "cls.predictions.decoder.bias"},
                    .tied = {{"cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"}},
                    .elsewhere = bert_tensorflow_names},
        .lora_targets = {"query", "value"},
        .graph =
            LanguageGraph{
                [](const Scope& scope, const ModelConfig& c, Tensor tokens, KeyValueCache*, bool last_only) {
                    return features(scope, c.as<BertConfig>(), tokens, last_only);
                },
                [](const ModelConfig& c, std::span<const std::int32_t> special, Batch& batch, Random& random) {
                    const BertConfig& bert = c.as<BertConfig>();
                    hide_words({bert.vocab_size, bert.mask_token_id, bert.mask_share}, special, batch, random);
                }},
        .accounting = &accounting_by<BertConfig, model_sizes, model_scale, resize>,
    };
    return family;
}

}  // namespace vkf
