#include "models/families/bert_encoder.h"

#include "base/error.h"
#include "models/attention/self_attention.h"
#include "models/config/activation_words.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/embedding.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

/// LN(word + position + type 0), and dropout: [B, T, C].
Tensor embed(const Scope& scope, const BertEncoderConfig& c, Tensor word_table, Tensor tokens) {
    const auto table = [&](std::string_view name, std::int64_t rows) {
        return (scope / name).parameter("weight", {rows, c.hidden_size}, Init::normal(0.02f));
    };
    const Tensor positions = slice(table("position_embeddings", c.max_position_embeddings), 0, 0, tokens.shape()[1]);
    const Tensor type = slice(table("token_type_embeddings", c.type_vocab_size), 0, 0, 1);
    return scope.drop(bert_norm(scope, c, add(embedding(word_table, tokens), add(positions, type))));
}

/// LN(x + attention(x)): [B, T, C]. Every position sees all positions of its row that count.
Tensor attention_block(const Scope& scope, const BertEncoderConfig& c, Tensor x, Tensor lengths) {
    const auto map = [&](std::string_view name) {
        return linear(scope / "self" / name, x, c.hidden_size, bert_linear());
    };
    const Tensor y = self_attention(scope, x, {map("query"), map("key"), map("value")},
                                    {.config = c.attention,
                                     .options = {.heads = c.num_attention_heads,
                                                 .dropout = scope.dropout_state().dropout,
                                                 .seed = scope.dropout_state().seed,
                                                 .salt = scope.salt(),
                                                 .mask = {.query_lengths = lengths, .key_lengths = lengths}},
                                     .output = "output.dense",
                                     .output_map = bert_linear(),
                                     .input = x,
                                     .input_map = bert_linear()});
    return bert_norm(scope / "output", c, y);
}

/// LN(x + mlp(x)): [B, T, C].
Tensor mlp_block(const Scope& scope, const BertEncoderConfig& c, Tensor x) {
    const Tensor inner = linear(scope / "intermediate" / "dense", x, c.inner(), bert_linear());
    const Scope output = scope / "output";
    return bert_norm(output, c, add_linear(output / "dense", x, activate(inner, c.hidden_act), bert_linear()));
}

}  // namespace

LinearOptions bert_linear() {
    return {.out_in = true};
}

Tensor bert_norm(const Scope& part, const BertEncoderConfig& c, Tensor x) {
    return layer_norm(part / "LayerNorm", x, true, c.layer_norm_eps);
}

BertEncoding bert_encode(const Scope& scope, const BertEncoderConfig& c, Tensor tokens, Tensor lengths) {
    const Scope model = scope / "bert", embeddings = model / "embeddings";
    const Tensor words =
        (embeddings / "word_embeddings").parameter("weight", {c.vocab_size, c.hidden_size}, Init::normal(0.02f));
    const Tensor x = embed(embeddings, c, words, tokens);
    return {stack(model / "encoder" / "layer", c.num_hidden_layers, x,
                  [&](const Scope& block, Tensor y) {
                      return mlp_block(block, c, attention_block(block / "attention", c, y, lengths));
                  }),
            words};
}

void check_bert_encoder(const BertEncoderConfig& c) {
    require(c.hidden_size % c.num_attention_heads == 0, "hidden_size ", c.hidden_size,
            " is not divisible by num_attention_heads ", c.num_attention_heads);
    require(c.hidden_size / c.num_attention_heads <= 256, "hidden_size / num_attention_heads is ",
            c.hidden_size / c.num_attention_heads, ", wanted at most 256");
}

double bert_matrix_elements(const BertEncoderConfig& c) {
    const auto number = [](std::int64_t n) { return static_cast<double>(n); };
    const double per_layer = 4 * number(c.hidden_size) + 2 * number(c.inner());
    return number(c.hidden_size) *
           (number(c.num_hidden_layers) * per_layer + number(c.vocab_size) + number(c.max_position_embeddings));
}

ModelSizes bert_encoder_sizes(const BertEncoderConfig& c, std::int64_t length) {
    return {.blocks = {{.name = "block",
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
                       {"position embeddings", "bert.embeddings.position_embeddings", "s", c.max_position_embeddings}}};
}

ModelScale bert_scale(const BertEncoderConfig& c) {
    return {c.num_hidden_layers, c.num_attention_heads, c.hidden_size};
}

void resize_bert(BertEncoderConfig& c, const ModelScale& wanted) {
    c.num_hidden_layers = wanted.layers;
    c.hidden_size = c.hidden_size / c.num_attention_heads * wanted.heads;
    c.intermediate_size = c.intermediate_size * wanted.heads / c.num_attention_heads;
    c.num_attention_heads = wanted.heads;
}

std::vector<std::string> bert_tensorflow_names(std::string_view name) {
    for (const auto& [ours, theirs] : {std::pair{".LayerNorm.weight", "gamma"}, {".LayerNorm.bias", "beta"}})
        if (name.ends_with(ours)) return {std::string(name.substr(0, name.rfind('.') + 1)) + theirs};
    return {};
}

std::vector<Field> BertEncoderConfig::encoder_fields(std::vector<Field> head) {
    std::vector<Field> all{
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
    };
    all.insert(all.end(), head.begin(), head.end());
    all.push_back({.key = "attention", .value = &attention});
    return all;
}

}  // namespace vkf
