#include "models/families/bert.h"

#include <string>

#include "base/error.h"
#include "models/attention/self_attention.h"
#include "models/config/activation_words.h"
#include "models/families/accounting.h"
#include "models/layers.h"
#include "models/masked_language_model.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/embedding.h"
#include "ops/movement/view.h"
#include "ops/rows/norm.h"

namespace vkf {

namespace {

/// Matrices are stored [out, in].
LinearOptions linear_options() {
    return {.out_in = true};
}

/// LN(x) with weight and bias, in the scope "LayerNorm" of a part.
Tensor part_norm(const Scope& part, const BertConfig& c, Tensor x) {
    return layer_norm(part / "LayerNorm", x, true, c.layer_norm_eps);
}

/// LN(word + position + type 0), and dropout: [B, T, C].
Tensor embed(const Scope& scope, const BertConfig& c, Tensor word_table, Tensor tokens) {
    const auto table = [&](std::string_view name, std::int64_t rows) {
        return (scope / name).parameter("weight", {rows, c.hidden_size}, Init::normal(0.02f));
    };
    const Tensor positions = slice(table("position_embeddings", c.max_position_embeddings), 0, 0, tokens.shape()[1]);
    const Tensor type = slice(table("token_type_embeddings", c.type_vocab_size), 0, 0, 1);
    return scope.drop(part_norm(scope, c, add(embedding(word_table, tokens), add(positions, type))));
}

/// LN(x + attention(x)): [B, T, C]. Every position sees all.
Tensor attention_block(const Scope& scope, const BertConfig& c, Tensor x) {
    const auto map = [&](std::string_view name) {
        return linear(scope / "self" / name, x, c.hidden_size, linear_options());
    };
    const Tensor y = self_attention(scope, x, {map("query"), map("key"), map("value")},
                                    {.config = c.attention,
                                     .options = {.heads = c.num_attention_heads,
                                                 .dropout = scope.dropout_state().dropout,
                                                 .seed = scope.dropout_state().seed,
                                                 .salt = scope.salt()},
                                     .output = "output.dense",
                                     .output_map = linear_options()});
    return part_norm(scope / "output", c, y);
}

/// LN(x + mlp(x)): [B, T, C].
Tensor mlp_block(const Scope& scope, const BertConfig& c, Tensor x) {
    const Tensor inner = linear(scope / "intermediate" / "dense", x, c.inner(), linear_options());
    const Scope output = scope / "output";
    return part_norm(output, c, add_linear(output / "dense", x, activate(inner, c.hidden_act), linear_options()));
}

Features features(const Scope& scope, const BertConfig& c, Tensor tokens, bool last_only) {
    const Init init = Init::normal(0.02f);
    const Scope model = scope / "bert", embeddings = model / "embeddings", head = scope / "cls" / "predictions";
    const Tensor words = (embeddings / "word_embeddings").parameter("weight", {c.vocab_size, c.hidden_size}, init);
    Tensor x = embed(embeddings, c, words, tokens);
    x = stack(model / "encoder" / "layer", c.num_hidden_layers, x, [&](const Scope& block, Tensor y) {
        return mlp_block(block, c, attention_block(block / "attention", c, y));
    });
    if (last_only) x = slice(x, 1, tokens.shape()[1] - 1, 1);
    const Scope transform = head / "transform";
    x = activate(linear(transform / "dense", x, c.hidden_size, linear_options()), c.hidden_act);
    x = part_norm(transform, c, x);
    const Tensor table =
        c.tie_word_embeddings ? words : (head / "decoder").parameter("weight", {c.vocab_size, c.hidden_size}, init);
    return {x, table, head.parameter("bias", {c.vocab_size}, Init::zeros())};
}

void check(const BertConfig& c) {
    require(c.hidden_size % c.num_attention_heads == 0, "hidden_size ", c.hidden_size,
            " is not divisible by num_attention_heads ", c.num_attention_heads);
    require(c.hidden_size / c.num_attention_heads <= 256, "hidden_size / num_attention_heads is ",
            c.hidden_size / c.num_attention_heads, ", wanted at most 256");
    require(c.mask_token_id < c.vocab_size, "mask_token_id is ", c.mask_token_id, ", wanted less than vocab_size ",
            c.vocab_size);
}

double matrix_elements(const BertConfig& c) {
    const auto number = [](std::int64_t n) { return static_cast<double>(n); };
    const double per_layer = 4 * number(c.hidden_size) + 2 * number(c.inner());
    return number(c.hidden_size) *
           (number(c.num_hidden_layers) * per_layer + number(c.vocab_size) + number(c.max_position_embeddings));
}

ModelSizes model_sizes(const BertConfig& c, std::int64_t length) {
    const auto h = static_cast<double>(c.hidden_size);
    const Formula logits = logits_flops(c.vocab_size, c.hidden_size);
    ModelSizes made{
        .blocks = {{.name = "block",
                    .path = "bert.encoder.layer",
                    .blocks = c.num_hidden_layers,
                    .width = c.hidden_size,
                    .heads = c.num_attention_heads,
                    .queries = c.hidden_size,
                    .keys = c.hidden_size,
                    .inner = c.inner(),
                    .length = length,
                    .post_norm = true}},
        .tables = {{"token embeddings", "bert.embeddings.word_embeddings", "v", c.vocab_size},
                   {"position embeddings", "bert.embeddings.position_embeddings", "s", c.max_position_embeddings},
                   {"map before the head", "cls.predictions.transform", "h", c.hidden_size}},
        .other_flops = {logits.symbols + " + 2·h²", logits.value + 2 * h * h}};
    if (!c.tie_word_embeddings) made.tables.push_back({"head", "cls.predictions.decoder", "v", c.vocab_size});
    return made;
}

ModelScale model_scale(const BertConfig& c) {
    return {c.num_hidden_layers, c.num_attention_heads, c.hidden_size};
}

void resize(BertConfig& c, const ModelScale& wanted) {
    c.num_hidden_layers = wanted.layers;
    c.hidden_size = c.hidden_size / c.num_attention_heads * wanted.heads;
    c.intermediate_size = c.intermediate_size * wanted.heads / c.num_attention_heads;
    c.num_attention_heads = wanted.heads;
}

/// Configuration of BERT-base, for the data's vocabulary.
BertConfig base() {
    BertConfig c;
    c.vocab_size = 0;
    c.intermediate_size = 0;
    return c;
}

/// Files that were converted from TensorFlow call the weight and bias of norms gamma and beta.
std::vector<std::string> tensorflow_names(std::string_view name) {
    for (const auto& [ours, theirs] : {std::pair{".LayerNorm.weight", "gamma"}, {".LayerNorm.bias", "beta"}})
        if (name.ends_with(ours)) return {std::string(name.substr(0, name.rfind('.') + 1)) + theirs};
    return {};
}

}  // namespace

std::vector<Field> BertConfig::fields() {
    return {
        {.key = "vocab_size",
         .value = IntRange{&vocab_size, 1, 1'000'000'000},
         .help = "vocabulary, with the token of hidden words; 0: what the data needs",
         .required = true,
         .dimension = Dimension::vocab_size},
        {.key = "max_position_embeddings",
         .value = IntRange{&max_position_embeddings, 1, 10'000'000},
         .required = true,
         .dimension = Dimension::context},
        {.key = "type_vocab_size", .value = IntRange{&type_vocab_size, 1, 1'000'000}},
        {.key = "hidden_size",
         .value = IntRange{&hidden_size, 1, 1'000'000},
         .help = "width",
         .option = "n-embd",
         .required = true},
        {.key = "intermediate_size",
         .value = IntRange{&intermediate_size, 0, 10'000'000, 4 * hidden_size},
         .help = "width inside the MLP; 0: 4 times the model's",
         .required = true},
        {.key = "num_hidden_layers",
         .value = IntRange{&num_hidden_layers, 1, 10'000},
         .help = "blocks",
         .option = "n-layer",
         .required = true,
         .dimension = Dimension::layers},
        {.key = "num_attention_heads",
         .value = IntRange{&num_attention_heads, 1, 100'000},
         .help = "attention heads",
         .option = "n-head",
         .required = true},
        {.key = "hidden_act",
         .value = choice(hidden_act, activation_words),
         .help = "of the MLP and the head: gelu is erf's, gelu_new tanh's",
         .option = "activation"},
        {.key = "layer_norm_eps", .value = Number{&layer_norm_eps, 0, 1}, .help = "of the norms"},
        {.key = "tie_word_embeddings", .value = &tie_word_embeddings, .help = "one table for tokens and logits"},
        {.key = "mask_token_id",
         .value = IntRange{&mask_token_id, -1, 1'000'000'000},
         .dimension = Dimension::mask_token},
        {.key = "mask_share", .value = Number{&mask_share, 0, 1}, .help = "share of the words that training hides"},
        {.key = "attention", .value = &attention},
    };
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
        .matrix_elements = [](const ModelConfig& c) { return matrix_elements(c.as<BertConfig>()); },
        // Other programs store numbers of positions, the parts that predict next sentences, and the head's bias twice.
        .tensors = {.buffers = {"bert.embeddings.position_ids", "bert.pooler.dense.weight", "bert.pooler.dense.bias",
                                "cls.seq_relationship.weight", "cls.seq_relationship.bias",
                                "cls.predictions.decoder.bias"},
                    .tied = {{"cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"}},
                    .elsewhere = tensorflow_names},
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
