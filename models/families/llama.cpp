#include "models/families/llama.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "models/attention/rotary_positions.h"
#include "models/attention/self_attention.h"
#include "models/config/activation_words.h"
#include "models/families/accounting.h"
#include "models/files/other_keys.h"
#include "models/layers.h"
#include "ops/elementwise/glu.h"
#include "ops/movement/embedding.h"
#include "ops/movement/view.h"
#include "ops/rows/norm.h"

namespace vkf {

namespace {

/// Matrices are stored [out, in].
LinearOptions linear_options(bool bias) {
    return {.bias = bias, .out_in = true};
}

RotaryPositions rotary_positions(Graph& graph, const LlamaConfig& c, std::int64_t length, KeyValueCache* cache) {
    const std::int64_t maps = c.attention.variant().maps;
    const std::vector<double> frequencies =
        rope_frequencies(c.head_width() / maps, static_cast<double>(c.rope_theta), c.rope_scaling.as<RopeScaling>());
    return RotaryPositions(graph, frequencies, length, cache);
}

/// x + attention(norm): [B, T, C].
Tensor attention_block(const Scope& scope, const LlamaConfig& c, const RotaryPositions& turned, Tensor x, Tensor norm,
                       KeyValueCache* cache) {
    const LinearOptions map = linear_options(c.attention_bias);
    const std::int64_t heads = c.num_attention_heads, kv_heads = c.kv_heads(), width = c.head_width();
    const Tensor q = linear(scope / "q_proj", norm, heads * width, map);
    const Tensor k = linear(scope / "k_proj", norm, kv_heads * width, map);
    const Tensor v = linear(scope / "v_proj", norm, kv_heads * width, map);
    const auto [turned_q, turned_k] = turned(q, k);
    return self_attention(scope, x, {turned_q, turned_k, v},
                          {.config = c.attention,
                           .options = {.heads = heads,
                                       .kv_heads = kv_heads,
                                       .dropout = scope.dropout_state().dropout,
                                       .seed = scope.dropout_state().seed,
                                       .salt = scope.salt(),
                                       .mask = {.causal = true}},
                           .output = "o_proj",
                           .output_map = map,
                           .cache = cache});
}

/// x + mlp(norm): [B, T, C].
Tensor mlp_block(const Scope& scope, const LlamaConfig& c, Tensor x, Tensor norm) {
    const LinearOptions map = linear_options(c.mlp_bias);
    const Tensor gate = linear(scope / "gate_proj", norm, c.inner(), map);
    const Tensor up = linear(scope / "up_proj", norm, c.inner(), map);
    return add_linear(scope / "down_proj", x, glu(gate, up, c.hidden_act), map);
}

Features features(const Scope& scope, const LlamaConfig& c, Tensor tokens, KeyValueCache* cache, bool last_only) {
    const std::int64_t length = tokens.shape()[1];
    const Init init = Init::normal(0.02f);
    const Scope model = scope / "model", embedded = model / "embed_tokens";
    const Tensor token_table = embedded.parameter("weight", {c.vocab_size, c.hidden_size}, init);
    const RotaryPositions turned = rotary_positions(scope.graph(), c, length, cache);
    Tensor x = embedded.drop(embedding(token_table, tokens));
    x = stack(model / "layers", c.num_hidden_layers, x, [&](const Scope& block, Tensor y) {
        const auto norm = [&](std::string_view name) { return rms_norm(block / name, y, c.rms_norm_eps); };
        y = attention_block(block / "self_attn", c, turned, y, norm("input_layernorm"), cache);
        return mlp_block(block / "mlp", c, y, norm("post_attention_layernorm"));
    });
    if (last_only) x = slice(x, 1, length - 1, 1);
    x = rms_norm(model / "norm", x, c.rms_norm_eps);
    const Scope head = scope / "lm_head";
    const Tensor table =
        c.tie_word_embeddings ? token_table : head.parameter("weight", {c.vocab_size, c.hidden_size}, init);
    return {x, table};
}

void check(const LlamaConfig& c) {
    const std::int64_t heads = c.num_attention_heads, maps = c.attention.variant().maps;
    require(c.head_dim > 0 || c.hidden_size % heads == 0, "hidden_size ", c.hidden_size,
            " is not divisible by num_attention_heads ", heads, " and there is no head_dim");
    require(c.head_width() > 0 && c.head_width() <= 256, "head_dim is ", c.head_width(), ", wanted 1 to 256");
    require(c.head_width() % (2 * maps) == 0, "head_dim is ", c.head_width(), ", wanted a multiple of ", 2 * maps,
            ", since rotary positions turn pairs");
    require(heads % c.kv_heads() == 0, "num_attention_heads ", heads, " is not divisible by num_key_value_heads ",
            c.kv_heads());
    require(c.rope_theta > 0, "rope_theta is ", c.rope_theta, ", wanted a number above 0");
    check(c.rope_scaling.as<RopeScaling>());
}

double matrix_elements(const LlamaConfig& c) {
    const auto number = [](std::int64_t n) { return static_cast<double>(n); };
    const double heads = number(2 * (c.num_attention_heads + c.kv_heads()) * c.head_width());
    const double tables = c.tie_word_embeddings ? 1 : 2;
    return number(c.hidden_size) *
           (number(c.num_hidden_layers) * (heads + 3 * number(c.inner())) + tables * number(c.vocab_size));
}

ModelSizes model_sizes(const LlamaConfig& c, std::int64_t length) {
    ModelSizes made{.blocks = {{.name = "block",
                                .path = "model.layers",
                                .blocks = c.num_hidden_layers,
                                .width = c.hidden_size,
                                .heads = c.num_attention_heads,
                                .queries = c.num_attention_heads * c.head_width(),
                                .keys = c.kv_heads() * c.head_width(),
                                .inner = c.inner(),
                                .inner_maps = 3,
                                .length = length,
                                .causal = true}},
                    .tables = {{"token embeddings", "model.embed_tokens", "v", c.vocab_size}},
                    .other_flops = logits_flops(c.vocab_size, c.hidden_size)};
    if (!c.tie_word_embeddings) made.tables.push_back({"head", "lm_head", "v", c.vocab_size});
    return made;
}

ModelScale model_scale(const LlamaConfig& c) {
    return {c.num_hidden_layers, c.kv_heads(), c.hidden_size};
}

void resize(LlamaConfig& c, const ModelScale& wanted) {
    const std::int64_t heads = c.kv_heads();
    c.num_hidden_layers = wanted.layers;
    c.hidden_size = c.hidden_size * wanted.heads / heads;
    c.intermediate_size = c.intermediate_size * wanted.heads / heads;
    c.num_attention_heads = c.num_attention_heads / heads * wanted.heads;
    c.num_key_value_heads = c.num_key_value_heads > 0 ? wanted.heads : 0;
}

/// Configuration of Zhang et al.
LlamaConfig published() {
    LlamaConfig c;
    c.vocab_size = 0;
    c.max_position_embeddings = 1024;
    c.hidden_size = 768;
    c.intermediate_size = 0;
    c.num_hidden_layers = 12;
    c.num_attention_heads = 12;
    c.num_key_value_heads = 4;
    c.rms_norm_eps = 1e-5f;
    c.rope_theta = 5e5f;
    return c;
}

/// Keys of other kinds of scaling, with the values at which they have no effect.
constexpr OtherKey OTHER_SCALING_KEYS[] = {{"factor", "[1]"},
                                           {"low_freq_factor", "[1]"},
                                           {"high_freq_factor", "[4]"},
                                           {"original_max_position_embeddings"},
                                           {"attention_factor", "[1]"},
                                           {"beta_fast", "[32]"},
                                           {"beta_slow", "[1]"},
                                           {"mscale", "[1]"},
                                           {"mscale_all_dim", "[0, 1]"},
                                           {"partial_rotary_factor", "[1]"},
                                           {"truncate"},
                                           {"finetuned"}};

/// Erases keys that the type of scaling does not read and that have no effect.
void erase_other_keys(nlohmann::json& scaling) {
    RopeScaling read;
    if (const auto type = scaling.find("rope_type"); type != scaling.end() && type->is_string())
        std::get<Choice>(read.fields().front().value).set(type->get<std::string>());
    for (const OtherKey& key : OTHER_SCALING_KEYS) {
        const auto found = scaling.find(key.name);
        const std::vector<Field> fields = read.fields();
        if (found == scaling.end() || std::ranges::find(fields, key.name, &Field::key) != fields.end()) continue;
        if (asks_for_nothing(key, *found)) scaling.erase(found);
    }
}

/// transformers 5 stores rope_theta and the scaling in "rope_parameters"; before 4.43 the key of the type was "type".
void rename_keys(nlohmann::json& config) {
    const auto is_object = [&](const char* key) { return config.contains(key) && config[key].is_object(); };
    const auto take = [](nlohmann::json& from, const char* key, nlohmann::json& to, const char* as) {
        if (!from.contains(key)) return;
        to[as] = from[key];
        from.erase(key);
    };
    if (is_object("rope_parameters")) {
        take(config, "rope_parameters", config, "rope_scaling");
        take(config["rope_scaling"], "rope_theta", config, "rope_theta");
    }
    if (!is_object("rope_scaling")) return;
    nlohmann::json& scaling = config["rope_scaling"];
    if (scaling.contains("rope_type")) scaling.erase("type");
    take(scaling, "type", scaling, "rope_type");
    erase_other_keys(scaling);
}

}  // namespace

std::vector<Field> LlamaConfig::fields() {
    const std::int64_t even = num_attention_heads > 0 ? hidden_size / num_attention_heads : 0;
    return {
        {.key = "vocab_size",
         .value = IntRange{&vocab_size, 1, 1'000'000'000},
         .help = "vocabulary; 0: what the data needs",
         .required = true,
         .dimension = Dimension::vocab_size},
        {.key = "max_position_embeddings",
         .value = IntRange{&max_position_embeddings, 1, 10'000'000},
         .required = true,
         .dimension = Dimension::context},
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
        {.key = "num_key_value_heads",
         .value = IntRange{&num_key_value_heads, 0, 100'000, num_attention_heads},
         .help = "heads of keys and values, which attention heads share; 0: as many",
         .option = "n-kv-head"},
        {.key = "head_dim", .value = IntRange{&head_dim, 0, 256, even}, .help = "width of a head; 0: width / heads"},
        {.key = "hidden_act",
         .value = choice(hidden_act, activation_words),
         .help = "of the MLP's gate",
         .option = "activation"},
        {.key = "rms_norm_eps", .value = Number{&rms_norm_eps, 0, 1}, .help = "of the norms"},
        {.key = "rope_theta", .value = Number{&rope_theta, 0, 1e12f}, .help = "base of the rotary positions"},
        {.key = "rope_scaling", .value = &rope_scaling},
        {.key = "tie_word_embeddings", .value = &tie_word_embeddings, .help = "one table for tokens and logits"},
        {.key = "attention_bias", .value = &attention_bias, .help = "biases of attention's maps"},
        {.key = "mlp_bias", .value = &mlp_bias, .help = "biases of the MLP's maps"},
        {.key = "attention", .value = &attention},
    };
}

const Family& LlamaConfig::family() {
    return llama_family();
}

const Family& llama_family() {
    static const Family family{
        .model_type = "llama",
        .command = "llama",
        .title = "Llama",
        .architecture = "LlamaForCausalLM",
        .recipe = "configs/llama-char-cpu.toml",
        .defaults = [] { return ModelConfig(LlamaConfig()); },
        .fresh = [] { return ModelConfig(published()); },
        .check = [](const ModelConfig& c) { check(c.as<LlamaConfig>()); },
        .matrix_elements = [](const ModelConfig& c) { return matrix_elements(c.as<LlamaConfig>()); },
        .rename_keys = rename_keys,
        // Earlier versions of Hugging Face's model stored frequencies with the parameters.
        .tensors = {.buffers = {".rotary_emb.inv_freq"}, .tied = {{"lm_head.weight", "model.embed_tokens.weight"}}},
        .lora_targets = {"q_proj", "v_proj"},
        .graph = LanguageGraph{[](const Scope& scope, const ModelConfig& c, Tensor tokens, KeyValueCache* cache,
                                  bool last_only) {
            return features(scope, c.as<LlamaConfig>(), tokens, cache, last_only);
        }},
        .accounting = &accounting_by<LlamaConfig, model_sizes, model_scale, resize>,
    };
    return family;
}

}  // namespace vkf
