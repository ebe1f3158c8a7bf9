#include "models/families/gpt2.h"

#include <array>
#include <cmath>

#include "base/error.h"
#include "models/attention/self_attention.h"
#include "models/config/activation_words.h"
#include "models/families/accounting.h"
#include "models/layers.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/embedding.h"
#include "ops/movement/view.h"
#include "ops/rows/norm.h"

namespace vkf {

namespace {

float residual_deviation(const Gpt2Config& c) {
    return 0.02f / std::sqrt(2.0f * static_cast<float>(c.n_layer));  // nanoGPT: two residual additions per layer
}

/// Scale of the products of queries and keys in a block; 0 stands for attention's default. A variant may divide a
/// head's width among several maps.
float score_scale(const Gpt2Config& c, std::int64_t layer) {
    if (c.scale_attn_weights && !c.scale_attn_by_inverse_layer_idx) return 0;
    const auto width = static_cast<double>(c.n_embd / c.n_head / c.attention.variant().maps);
    const double by_width = c.scale_attn_weights ? 1 / std::sqrt(width) : 1;
    const double by_layer = c.scale_attn_by_inverse_layer_idx ? 1 / static_cast<double>(layer + 1) : 1;
    return static_cast<float>(by_width * by_layer);
}

/// x + attention(norm): [B, T, C].
Tensor attention_block(const Scope& scope, const Gpt2Config& c, Tensor x, Tensor norm, KeyValueCache* cache) {
    const Tensor qkv = linear(scope / "c_attn", norm, 3 * c.n_embd, {.bias = c.bias});
    const auto part = split(qkv, std::array{c.n_embd, c.n_embd, c.n_embd});
    return self_attention(scope, x, {part[0], part[1], part[2]},
                          {.config = c.attention,
                           .options = {.heads = c.n_head,
                                       .scale = score_scale(c, scope.layer()),
                                       .dropout = scope.dropout_state().dropout,
                                       .seed = scope.dropout_state().seed,
                                       .salt = scope.salt(),
                                       .mask = {.causal = true}},
                           .output = "c_proj",
                           .output_map = {.bias = c.bias, .init = Init::normal(residual_deviation(c))},
                           .cache = cache});
}

/// x + mlp(norm): [B, T, C].
Tensor mlp_block(const Scope& scope, const Gpt2Config& c, Tensor x, Tensor norm) {
    const Tensor inner = activate(linear(scope / "c_fc", norm, c.inner(), {.bias = c.bias}), c.activation);
    return add_linear(scope / "c_proj", x, inner, {.bias = c.bias, .init = Init::normal(residual_deviation(c))});
}

void check(const Gpt2Config& c) {
    require(c.n_embd % c.n_head == 0, "n_embd ", c.n_embd, " is not divisible by n_head ", c.n_head);
    require(c.n_embd / c.n_head <= 256, "n_embd / n_head is ", c.n_embd / c.n_head, ", wanted at most 256");
}

double matrix_elements(const Gpt2Config& c) {
    const auto number = [](std::int64_t n) { return static_cast<double>(n); };
    const double per_layer = 4 * number(c.n_embd) + 2 * number(c.inner());
    return number(c.n_embd) * (number(c.n_layer) * per_layer + number(c.vocab_size) + number(c.n_positions));
}

Features features(const Scope& scope, const Gpt2Config& c, Tensor tokens, KeyValueCache* cache, bool last_only) {
    const std::int64_t length = tokens.shape()[1];
    const Init init = Init::normal(0.02f);
    const Tensor token_table = (scope / "wte").parameter("weight", {c.vocab_size, c.n_embd}, init);
    const Tensor position_table = (scope / "wpe").parameter("weight", {c.n_positions, c.n_embd}, init);
    const Tensor positions = cache ? embedding(position_table, cache->positions) : slice(position_table, 0, 0, length);
    Tensor x = (scope / "drop").drop(add(embedding(token_table, tokens), positions));
    x = stack(scope / "h", c.n_layer, x, [&](const Scope& block, Tensor y) {
        const auto norm = [&](std::string_view name) {
            return layer_norm(block / name, y, c.bias, c.layer_norm_epsilon);
        };
        y = attention_block(block / "attn", c, y, norm("ln_1"), cache);
        return mlp_block(block / "mlp", c, y, norm("ln_2"));
    });
    if (last_only) x = slice(x, 1, length - 1, 1);
    x = layer_norm(scope / "ln_f", x, c.bias, c.layer_norm_epsilon);
    const Scope head = scope / "lm_head";
    const Tensor table = c.tie_word_embeddings ? token_table : head.parameter("weight", {c.vocab_size, c.n_embd}, init);
    return {x, table};
}

ModelSizes model_sizes(const Gpt2Config& c, std::int64_t length) {
    ModelSizes made{
        .blocks = {{.name = "block",
                    .path = "h",
                    .blocks = c.n_layer,
                    .width = c.n_embd,
                    .heads = c.n_head,
                    .queries = c.n_embd,
                    .keys = c.n_embd,
                    .inner = c.inner(),
                    .length = length,
                    .causal = true}},
        .tables = {{"token embeddings", "wte", "v", c.vocab_size}, {"position embeddings", "wpe", "s", c.n_positions}},
        .other_flops = logits_flops(c.vocab_size, c.n_embd)};
    if (!c.tie_word_embeddings) made.tables.push_back({"head", "lm_head", "v", c.vocab_size});
    return made;
}

ModelScale model_scale(const Gpt2Config& c) {
    return {c.n_layer, c.n_head, c.n_embd};
}

void resize(Gpt2Config& c, const ModelScale& wanted) {
    c.n_layer = wanted.layers;
    c.n_embd = c.n_embd / c.n_head * wanted.heads;
    c.n_inner = c.n_inner * wanted.heads / c.n_head;
    c.n_head = wanted.heads;
}

/// Configuration of nanoGPT: no biases, exact GELU.
Gpt2Config nanogpt() {
    Gpt2Config c;
    c.vocab_size = 0;
    c.bias = false;
    c.activation = Activation::gelu;
    return c;
}

}  // namespace

std::vector<Field> Gpt2Config::fields() {
    return {
        {.key = "vocab_size",
         .value = IntRange{&vocab_size, 1, 1'000'000'000},
         .help = "vocabulary; 0: what the data needs",
         .required = true,
         .dimension = Dimension::vocab_size},
        {.key = "n_positions",
         .value = IntRange{&n_positions, 1, 10'000'000},
         .required = true,
         .dimension = Dimension::context},
        {.key = "n_embd", .value = IntRange{&n_embd, 1, 1'000'000}, .help = "width", .required = true},
        {.key = "n_layer",
         .value = IntRange{&n_layer, 1, 10'000},
         .help = "blocks",
         .required = true,
         .dimension = Dimension::layers},
        {.key = "n_head", .value = IntRange{&n_head, 1, 100'000}, .help = "attention heads", .required = true},
        {.key = "n_inner", .value = IntRange{&n_inner, 0, 10'000'000}},
        {.key = "activation_function",
         .value = choice(activation, activation_words),
         .help = "of the MLP: gelu is erf's, gelu_new tanh's",
         .option = "activation"},
        {.key = "layer_norm_epsilon", .value = Number{&layer_norm_epsilon, 0, 1}},
        {.key = "tie_word_embeddings", .value = &tie_word_embeddings},
        {.key = "bias", .value = &bias, .help = "biases in linear layers and norms"},
        {.key = "scale_attn_weights", .value = &scale_attn_weights},
        {.key = "scale_attn_by_inverse_layer_idx", .value = &scale_attn_by_inverse_layer_idx},
        {.key = "attention", .value = &attention},
    };
}

const Family& Gpt2Config::family() {
    return gpt2_family();
}

const Family& gpt2_family() {
    static const Family family{
        .model_type = "gpt2",
        .command = "gpt",
        .title = "GPT-2",
        .architecture = "GPT2LMHeadModel",
        .recipe = "configs/shakespeare-char-cpu.toml",
        .defaults = [] { return ModelConfig(Gpt2Config()); },
        .fresh = [] { return ModelConfig(nanogpt()); },
        .check = [](const ModelConfig& c) { check(c.as<Gpt2Config>()); },
        .matrix_elements = [](const ModelConfig& c) { return matrix_elements(c.as<Gpt2Config>()); },
        // Other programs store the causal mask and its fill value with the parameters.
        .tensors = {.prefix = "transformer.",
                    .buffers = {".attn.bias", ".attn.masked_bias"},
                    .tied = {{"lm_head.weight", "wte.weight"}}},
        .lora_targets = {"c_attn"},
        .graph =
            LanguageGraph{[](const Scope& scope, const ModelConfig& c, Tensor tokens, KeyValueCache* cache,
                             bool last_only) { return features(scope, c.as<Gpt2Config>(), tokens, cache, last_only); }},
        .accounting = &accounting_by<Gpt2Config, model_sizes, model_scale, resize>,
    };
    return family;
}

}  // namespace vkf
