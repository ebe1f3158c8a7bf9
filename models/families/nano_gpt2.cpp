#include "models/families/nano_gpt2.h"

#include <array>
#include <cmath>

#include "base/error.h"
#include "models/attention/rope_scaling.h"
#include "models/attention/rotary_positions.h"
#include "models/attention/self_attention.h"
#include "models/families/accounting.h"
#include "models/layers.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/fake_quantize.h"
#include "ops/movement/embedding.h"
#include "ops/movement/view.h"
#include "ops/rows/norm.h"

namespace vkf {

namespace {

Init uniform_init(std::int64_t in) {
    return Init::uniform(1.0f / std::sqrt(static_cast<float>(in)));
}

/// Options of a map from `in` numbers: weights are rounded if the model's are; the output is multiplied by `factor`.
LinearOptions linear_options(const NanoGpt2Config& c, std::int64_t in, float factor = 1.0f) {
    LinearOptions options{.bias = false, .out_in = true, .init = uniform_init(in), .factor = factor};
    if (c.casted_weights) options.weight_as = fake_quantize_e5m2;
    return options;
}

/// Rotary positions that turn in the direction opposite to Llama's.
RotaryPositions rotary_positions(Graph& graph, const NanoGpt2Config& c, std::int64_t length, KeyValueCache* cache) {
    const std::int64_t maps = c.attention.variant().maps, width = c.n_embd / c.n_head / maps;
    const std::vector<double> frequencies = rope_frequencies(width, static_cast<double>(c.rope_theta));
    RotaryPositions made(graph, frequencies, length, cache);
    made.clockwise = true;
    return made;
}

/// x + attention(norm) / √(2·n_layer): [B, T, C].
Tensor attention_block(const Scope& scope, const NanoGpt2Config& c, const RotaryPositions& turned, Tensor x,
                       Tensor norm, KeyValueCache* cache) {
    const float share = 1.0f / std::sqrt(2.0f * static_cast<float>(c.n_layer));
    const Tensor qkv = linear(scope / "c_attn", norm, 3 * c.n_embd, linear_options(c, c.n_embd));
    const auto part = split(qkv, std::array{c.n_embd, c.n_embd, c.n_embd});
    const auto [q, k] = turned(part[0], part[1]);
    return self_attention(scope, x, {q, k, part[2]},
                          {.config = c.attention,
                           .options = {.heads = c.n_head,
                                       .dropout = scope.dropout_state().dropout,
                                       .seed = scope.dropout_state().seed,
                                       .salt = scope.salt(),
                                       .mask = {.causal = true}},
                           .output = "c_proj",
                           .output_map = linear_options(c, c.n_embd, share),
                           .cache = cache});
}

/// x + mlp(norm): [B, T, C].
Tensor mlp_block(const Scope& scope, const NanoGpt2Config& c, Tensor x, Tensor norm) {
    const std::int64_t inner = 4 * c.n_embd;
    const Tensor hidden = linear(scope / "c_fc", norm, inner, linear_options(c, c.n_embd));
    return add_linear(scope / "c_proj", x, activate(hidden, Activation::gelu), linear_options(c, inner));
}

Features features(const Scope& scope, const NanoGpt2Config& c, Tensor tokens, KeyValueCache* cache, bool last_only) {
    const auto norm = [&](Tensor x) { return rms_norm(x, Tensor(), c.rms_norm_eps); };
    const Tensor table =
        (scope / "wte").parameter("weight", {c.vocab_size, c.n_embd}, uniform_init(c.n_embd));  // tied to the head
    const std::int64_t length = tokens.shape()[1];
    const RotaryPositions turned = rotary_positions(scope.graph(), c, length, cache);
    Tensor x = scope.drop(embedding(table, tokens));
    x = stack(scope / "h", c.n_layer, x, [&](const Scope& block, Tensor y) {
        y = attention_block(block / "attn", c, turned, y, norm(y), cache);
        return mlp_block(block / "mlp", c, y, norm(y));
    });
    if (last_only) x = slice(x, 1, length - 1, 1);
    const Scope head = scope / "lm_head";  // names the nodes that follow
    return {norm(x), table};
}

void check(const NanoGpt2Config& c) {
    require(c.n_embd % c.n_head == 0, "n_embd ", c.n_embd, " is not divisible by n_head ", c.n_head);
    const std::int64_t width = c.n_embd / c.n_head, pairs = 2 * c.attention.variant().maps;
    require(width <= 256 && width % pairs == 0, "n_embd / n_head is ", width, ", wanted a multiple of ", pairs,
            ", at most 256: rotary positions turn pairs");
    require(c.rope_theta > 0, "rope_theta is ", c.rope_theta, ", wanted a number above 0");
}

double matrix_elements(const NanoGpt2Config& c) {
    const auto number = [](std::int64_t n) { return static_cast<double>(n); };
    return number(c.n_embd) * (12 * number(c.n_layer) * number(c.n_embd) + number(c.vocab_size));
}

ModelSizes model_sizes(const NanoGpt2Config& c, std::int64_t length) {
    ModelSizes made{.blocks = {{.name = "block",
                                .path = "h",
                                .blocks = c.n_layer,
                                .width = c.n_embd,
                                .heads = c.n_head,
                                .queries = c.n_embd,
                                .keys = c.n_embd,
                                .inner = 4 * c.n_embd,
                                .length = length,
                                .causal = true}},
                    .tables = {{"token embeddings", "wte", "v", c.vocab_size}},
                    .other_flops = logits_flops(c.vocab_size, c.n_embd)};
    made.notes.emplace_back(
        "Rotated queries and keys are kept beside the map's output: 2·h more numbers for each token.");
    if (c.casted_weights)
        made.notes.emplace_back(
            "Rounded copies of the weights are kept for the backward pass: 12·h² more numbers for each "
            "block, for any number of tokens.");
    return made;
}

ModelScale model_scale(const NanoGpt2Config& c) {
    return {c.n_layer, c.n_head, c.n_embd};
}

void resize(NanoGpt2Config& c, const ModelScale& wanted) {
    c.n_layer = wanted.layers;
    c.n_embd = c.n_embd / c.n_head * wanted.heads;
    c.n_head = wanted.heads;
}

}  // namespace

std::vector<Field> NanoGpt2Config::fields() {
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
        {.key = "rms_norm_eps", .value = Number{&rms_norm_eps, 0, 1}},
        {.key = "rope_theta", .value = Number{&rope_theta, 0, 1e9f}, .help = "base of the rotary positions' angles"},
        {.key = "casted_weights",
         .value = &casted_weights,
         .help = "multiply by weights rounded as 8 bits (e5m2) would hold them"},
        {.key = "attention", .value = &attention},
    };
}

const Family& NanoGpt2Config::family() {
    return nano_gpt2_family();
}

const Family& nano_gpt2_family() {
    static const Family family{
        .model_type = "nano-gpt2",
        .command = "nano-gpt2",
        .title = "nano-GPT2",
        .architecture = "NanoGPT2LMHeadModel",
        .recipe = "configs/nano-gpt2-bpe-cpu.toml",
        .defaults = [] { return ModelConfig(NanoGpt2Config()); },
        .fresh =
            [] {
                NanoGpt2Config c;
                c.vocab_size = 0;
                return ModelConfig(c);
            },
        .check = [](const ModelConfig& c) { check(c.as<NanoGpt2Config>()); },
        .matrix_elements = [](const ModelConfig& c) { return matrix_elements(c.as<NanoGpt2Config>()); },
        .tensors = {.prefix = "transformer.", .tied = {{"lm_head.weight", "wte.weight"}}},
        .lora_targets = {"c_attn"},
        .graph = LanguageGraph{[](const Scope& scope, const ModelConfig& c, Tensor tokens, KeyValueCache* cache,
                                  bool last_only) {
            return features(scope, c.as<NanoGpt2Config>(), tokens, cache, last_only);
        }},
        .accounting = &accounting_by<NanoGpt2Config, model_sizes, model_scale, resize>,
    };
    return family;
}

}  // namespace vkf
