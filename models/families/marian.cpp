#include "models/families/marian.h"

#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/integers.h"
#include "models/attention/attention_taps.h"
#include "models/attention/self_attention.h"
#include "models/config/activation_words.h"
#include "models/families/accounting.h"
#include "models/files/stored_weights.h"
#include "models/layers.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/embedding.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

constexpr float NORM_EPS = 1e-5f;
constexpr const char* LOGITS_BIAS = "final_logits_bias";
constexpr const char* POSITION_TABLES[] = {"model.encoder.embed_positions.weight",
                                           "model.decoder.embed_positions.weight"};

constexpr std::pair<const char*, PositionEmbedding> POSITION_WORDS[] = {
    {"sinusoidal", PositionEmbedding::sinusoidal_halves},
    {"sinusoidal_interleaved", PositionEmbedding::sinusoidal_interleaved},
    {"learned", PositionEmbedding::learned}};

/// Glorot and Bengio's uniform draws for a map between these widths, times `gain`.
LinearOptions xavier(std::int64_t in, std::int64_t out, double gain = 1) {
    const double bound = gain * std::sqrt(6.0 / static_cast<double>(in + out));
    return {.out_in = true, .init = Init::uniform(static_cast<float>(bound))};
}

/// Queries, keys and values are parts of one map three times as high; their draws are those of that map.
Tensor input_map(const Scope& scope, Tensor x) {
    return linear(scope, x, x.width(), xavier(x.width(), x.width(), std::sqrt(0.5)));
}

/// Lookup table of tokens, [V, C].
Tensor token_table(const Scope& scope, const MarianConfig& c, std::int64_t vocabulary) {
    const Init init = Init::normal(1.0f / std::sqrt(static_cast<float>(c.d_model)));
    return scope.parameter("weight", {vocabulary, c.d_model}, init);
}

Tensor source_table(const Scope& scope, const MarianConfig& c) {
    return token_table(c.share_encoder_decoder_embeddings ? scope / "shared" : scope / "encoder" / "embed_tokens", c,
                       c.vocab_size);
}

Tensor target_table(const Scope& scope, const MarianConfig& c) {
    if (c.share_encoder_decoder_embeddings) return source_table(scope, c);
    return token_table(scope / "decoder" / "embed_tokens", c, c.target_vocabulary());
}

SinusoidLayout layout_of(const MarianConfig& c) {
    return c.positions == PositionEmbedding::sinusoidal_interleaved ? SinusoidLayout::interleaved
                                                                    : SinusoidLayout::halves;
}

/// Embeddings of the positions 0 … length − 1, [length, C], or of those of a cache.
Tensor positions(const Scope& stack, const MarianConfig& c, std::int64_t length, const KeyValueCache* cache) {
    const bool learned = c.positions == PositionEmbedding::learned;
    const std::int64_t rows = learned || cache ? c.max_position_embeddings : length;
    const Tensor table = learned ? token_table(stack / "embed_positions", c, rows)
                                 : sinusoidal_positions(stack.graph(), rows, c.d_model, layout_of(c));
    if (cache) return embedding(table, cache->positions);
    return learned ? slice(table, 0, 0, length) : table;
}

/// Input of a stack, [B, T, C].
Tensor embed(const Scope& stack, const MarianConfig& c, Tensor table, Tensor tokens, const KeyValueCache* cache) {
    const Tensor looked_up = embedding(table, tokens);
    const Tensor scaled = c.scale_embedding ? scale(looked_up, std::sqrt(static_cast<float>(c.d_model))) : looked_up;
    return stack.drop(add(scaled, positions(stack, c, tokens.shape()[1], cache)));
}

/// A sublayer and its LN: `branch` is a function of the stream and of its input that returns stream + drop(f(input)).
Tensor sublayer(const Scope& norm, const MarianConfig& c, Tensor x, const auto& branch) {
    if (c.normalize_before) return branch(x, layer_norm(norm, x, true, NORM_EPS));
    return layer_norm(norm, branch(x, x), true, NORM_EPS);
}

Tensor self_attention_layer(const Scope& block, const MarianConfig& c, std::int64_t heads, Tensor x,
                            const AttentionMask& mask, KeyValueCache* cache) {
    const Scope scope = block / "self_attn";
    return sublayer(block / "self_attn_layer_norm", c, x, [&](Tensor stream, Tensor in) {
        const QueriesKeysValues qkv{input_map(scope / "q_proj", in), input_map(scope / "k_proj", in),
                                    input_map(scope / "v_proj", in)};
        return self_attention(scope, stream, qkv,
                              {.config = c.attention,
                               .options = {.heads = heads, .mask = mask},
                               .output = "out_proj",
                               .output_map = xavier(c.d_model, c.d_model),
                               .cache = cache});
    });
}

Tensor mlp_layer(const Scope& block, const MarianConfig& c, std::int64_t inner, Tensor x) {
    return sublayer(block / "final_layer_norm", c, x, [&](Tensor stream, Tensor in) {
        const Tensor hidden = activate(linear(block / "fc1", in, inner, xavier(c.d_model, inner)), c.activation);
        return add_linear(block / "fc2", stream, hidden, xavier(inner, c.d_model));
    });
}

/// Keys and values of a decoder block's cross-attention, [B, S, C] each.
KeysAndValues cross_keys_and_values(const Scope& block, Tensor encoded) {
    const Scope scope = block / "encoder_attn";
    return {input_map(scope / "k_proj", encoded), input_map(scope / "v_proj", encoded)};
}

/// Rows of queries that belong to the same source are queries of one row for the kernel, so that keys and values need
/// not be repeated.
Tensor cross_attention_layer(const Scope& block, const MarianConfig& c, Tensor x, const KeysAndValues& source,
                             Tensor source_lengths, Tensor target_lengths) {
    const Scope scope = block / "encoder_attn";
    return sublayer(block / "encoder_attn_layer_norm", c, x, [&](Tensor stream, Tensor in) {
        const std::int64_t sources = source.keys.shape()[0], queries = in.rows() / sources;
        const Tensor q = reshape(input_map(scope / "q_proj", in), {sources, queries, c.d_model});
        const AttentionOptions options{.heads = c.decoder_attention_heads,
                                       .mask = {.query_lengths = target_lengths, .key_lengths = source_lengths}};
        const Tensor o = attention(q, source.keys, source.values, options);
        const LinearOptions map = xavier(c.d_model, c.d_model);
        tap_cross_attention(scope, q, source.keys, o, options);
        tap_output_map(scope, o, options.heads, c.d_model, {"out_proj", map});
        return add_linear(scope / "out_proj", stream, reshape(o, in.shape()), map);
    });
}

/// The LN at the end of a pre-norm stack.
Tensor last_norm(const Scope& stack, const MarianConfig& c, Tensor x) {
    return c.normalize_before ? layer_norm(stack / "layer_norm", x, true, NORM_EPS) : x;
}

SourceMemory read(const Scope& model, const MarianConfig& c, const Sentences& source) {
    const Scope scope = model / "model", encoder = scope / "encoder", decoder = scope / "decoder";
    const AttentionMask mask{.query_lengths = source.lengths, .key_lengths = source.lengths};
    Tensor x = embed(encoder, c, source_table(scope, c), source.tokens, nullptr);
    x = stack(encoder / "layers", c.encoder_layers, x, [&](const Scope& block, Tensor y) {
        y = self_attention_layer(block, c, c.encoder_attention_heads, y, mask, nullptr);
        return mlp_layer(block, c, c.encoder_ffn_dim, y);
    });
    x = last_norm(encoder, c, x);
    SourceMemory memory{.layers = {}, .lengths = source.lengths};
    for (std::int64_t i = 0; i < c.decoder_layers; ++i)
        memory.layers.push_back(cross_keys_and_values((decoder / "layers").block(i, c.decoder_layers), x));
    return memory;
}

Features features(const Scope& model, const MarianConfig& c, const SourceMemory& memory, const Sentences& target,
                  KeyValueCache* cache) {
    const Scope scope = model / "model", decoder = scope / "decoder";
    const AttentionMask mask{.causal = true, .query_lengths = target.lengths, .key_lengths = target.lengths};
    const Tensor table = target_table(scope, c);
    Tensor x = embed(decoder, c, table, target.tokens, cache);
    x = stack(decoder / "layers", c.decoder_layers, x, [&](const Scope& block, Tensor y) {
        y = self_attention_layer(block, c, c.decoder_attention_heads, y, mask, cache);
        y = cross_attention_layer(block, c, y, memory.layers.at(as_index(block.layer())), memory.lengths,
                                  target.lengths);
        return mlp_layer(block, c, c.decoder_ffn_dim, y);
    });
    x = last_norm(decoder, c, x);
    const Scope head = model / "lm_head";
    Features made{x, c.tie_word_embeddings ? table : token_table(head, c, c.target_vocabulary())};
    const std::int64_t vocabulary = c.target_vocabulary();
    if (c.final_logits_bias)
        made.bias = reshape(model.frozen_parameter(LOGITS_BIAS, {1, vocabulary}, Init::zeros()), {vocabulary});
    return made;
}

/// Throws InputError unless a stored table of positions, in 16 or 32 bits, is the one that the model computes.
void check_positions(const MarianConfig& c, const StoredWeights& weights, const std::string& name) {
    const StoredTensor& stored = weights.at(name);
    require(stored.shape.size() == 2 && stored.shape[0] > 0 && stored.shape[1] == c.d_model, weights.path().string(),
            ": ", name, " is ", Shape(stored.shape), ", wanted [positions, ", c.d_model, "]");
    const std::vector<float> found = weights.read_f32(name);
    const SinusoidLayout layout = layout_of(c);
    constexpr float accuracy = 1.0f / 128;  // bfloat16's near 1
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto row = static_cast<std::int64_t>(i) / c.d_model, column = static_cast<std::int64_t>(i) % c.d_model;
        const float wanted = sinusoidal_position(row, column, c.d_model, layout);
        require(std::abs(found[i] - wanted) <= accuracy, weights.path().string(), ": ", name, " has ", found[i],
                " in row ", row, ", column ", column, ", wanted ", wanted,
                ", because config.json describes positions by sines and cosines");
    }
}

void adopt_weights(MarianConfig& c, const StoredWeights& weights) {
    c.final_logits_bias = weights.contains(LOGITS_BIAS);
    for (const char* name : POSITION_TABLES)
        if (c.positions != PositionEmbedding::learned && weights.contains(name)) check_positions(c, weights, name);
}

void check(const MarianConfig& c) {
    for (const auto& [key, heads] : {std::pair("encoder_attention_heads", c.encoder_attention_heads),
                                     std::pair("decoder_attention_heads", c.decoder_attention_heads)}) {
        require(c.d_model % heads == 0, "d_model ", c.d_model, " is not divisible by ", key, " ", heads);
        require(c.d_model / heads <= 256, "d_model / ", key, " is ", c.d_model / heads, ", wanted at most 256");
    }
}

double matrix_elements(const MarianConfig& c) {
    const auto number = [](std::int64_t n) { return static_cast<double>(n); };
    const double encoder = number(c.encoder_layers) * (4 * number(c.d_model) + 2 * number(c.encoder_ffn_dim));
    const double decoder = number(c.decoder_layers) * (8 * number(c.d_model) + 2 * number(c.decoder_ffn_dim));
    const std::int64_t tables =
        c.share_encoder_decoder_embeddings ? c.vocab_size : c.vocab_size + c.target_vocabulary();
    return number(c.d_model) * (encoder + decoder + number(tables));
}

ModelSizes model_sizes(const MarianConfig& c, std::int64_t length) {
    BlockSizes encoder{.name = "encoder block",
                       .path = "model.encoder.layers",
                       .blocks = c.encoder_layers,
                       .width = c.d_model,
                       .heads = c.encoder_attention_heads,
                       .queries = c.d_model,
                       .keys = c.d_model,
                       .inner = c.encoder_ffn_dim,
                       .length = length,
                       .post_norm = !c.normalize_before};
    BlockSizes decoder = encoder;
    decoder.name = "decoder block";
    decoder.path = "model.decoder.layers";
    decoder.blocks = c.decoder_layers;
    decoder.heads = c.decoder_attention_heads;
    decoder.inner = c.decoder_ffn_dim;
    decoder.causal = decoder.cross = true;
    ModelSizes made{.blocks = {std::move(encoder), std::move(decoder)},
                    .tables = {},
                    .other_flops = logits_flops(c.target_vocabulary(), c.d_model)};
    const auto add = [&](const char* name, const char* path, const char* symbol, std::int64_t rows) {
        made.tables.push_back({name, path, symbol, rows});
    };
    if (c.share_encoder_decoder_embeddings) add("token embeddings", "model.shared", "v", c.vocab_size);
    if (!c.share_encoder_decoder_embeddings) {
        add("source embeddings", "model.encoder.embed_tokens", "v_source", c.vocab_size);
        add("target embeddings", "model.decoder.embed_tokens", "v", c.target_vocabulary());
    }
    if (c.positions == PositionEmbedding::learned)
        for (const char* path : {"model.encoder.embed_positions", "model.decoder.embed_positions"})
            add("position embeddings", path, "s", c.max_position_embeddings);
    if (!c.tie_word_embeddings) add("head", "lm_head", "v", c.target_vocabulary());
    if (!c.normalize_before)
        made.notes.emplace_back(
            "The output of the decoder's last norm is not kept: the loss makes its gradient at once.");
    return made;
}

/// Encoder and decoder grow in proportion: a step of the width is one head in the smaller of both.
ModelScale model_scale(const MarianConfig& c) {
    return {std::max(c.encoder_layers, c.decoder_layers),
            std::gcd(c.encoder_attention_heads, c.decoder_attention_heads), c.d_model};
}

void resize(MarianConfig& c, const ModelScale& wanted) {
    const std::int64_t heads = model_scale(c).heads;
    c.encoder_layers = c.decoder_layers = wanted.layers;
    c.d_model = c.d_model / heads * wanted.heads;
    c.encoder_ffn_dim = c.encoder_ffn_dim * wanted.heads / heads;
    c.decoder_ffn_dim = c.decoder_ffn_dim * wanted.heads / heads;
    c.encoder_attention_heads = c.encoder_attention_heads / heads * wanted.heads;
    c.decoder_attention_heads = c.decoder_attention_heads / heads * wanted.heads;
}

/// The base model as published: post-norm, ReLU, interleaved sines and cosines, one table for all.
MarianConfig vaswani_base() {
    MarianConfig c;
    c.vocab_size = 0;
    c.d_model = 512;
    c.encoder_layers = c.decoder_layers = 6;
    c.encoder_attention_heads = c.decoder_attention_heads = 8;
    c.encoder_ffn_dim = c.decoder_ffn_dim = 2048;
    c.activation = Activation::relu;
    c.scale_embedding = true;
    c.positions = PositionEmbedding::sinusoidal_interleaved;
    return c;
}

}  // namespace

MarianConfig::MarianConfig() {
    vocab_size = 58101;
    decoder_start_token_id = 58100;
}

void MarianConfig::set_tokens(const TranslationTokens& wanted) {
    TranslationVocabulary::set_tokens(wanted);
    pad_token_id = wanted.end;
}

std::vector<Field> MarianConfig::fields() {
    std::vector<Field> all = vocabulary_fields();
    const std::vector<Field> own{
        {.key = "max_position_embeddings",
         .value = IntRange{&max_position_embeddings, 1, 1'000'000},
         .help = "positions, the longest sentence with its end",
         .dimension = Dimension::context},
        {.key = "d_model", .value = IntRange{&d_model, 1, 1'000'000}, .help = "width", .required = true},
        {.key = "encoder_layers",
         .value = IntRange{&encoder_layers, 1, 10'000},
         .help = "blocks of the encoder",
         .required = true,
         .dimension = Dimension::layers},
        {.key = "decoder_layers",
         .value = IntRange{&decoder_layers, 1, 10'000},
         .help = "blocks of the decoder",
         .required = true},
        {.key = "encoder_attention_heads",
         .value = IntRange{&encoder_attention_heads, 1, 100'000},
         .help = "attention heads of the encoder",
         .required = true},
        {.key = "decoder_attention_heads",
         .value = IntRange{&decoder_attention_heads, 1, 100'000},
         .help = "attention heads of the decoder",
         .required = true},
        {.key = "encoder_ffn_dim",
         .value = IntRange{&encoder_ffn_dim, 1, 10'000'000},
         .help = "inner width of the encoder's MLP",
         .required = true},
        {.key = "decoder_ffn_dim",
         .value = IntRange{&decoder_ffn_dim, 1, 10'000'000},
         .help = "inner width of the decoder's MLP",
         .required = true},
        {.key = "activation_function",
         .value = choice(activation, activation_words),
         .help = "of the MLPs: gelu is erf's, gelu_new tanh's",
         .option = "activation"},
        {.key = "scale_embedding", .value = &scale_embedding, .help = "tokens' embeddings count √d_model times"},
        {.key = "normalize_before",
         .value = &normalize_before,
         .help = "pre-norm: norms before sublayers, and one at the end; else post-norm, as published"},
        {.key = "position_embedding_type",
         .value = choice(positions, POSITION_WORDS),
         .help = "sinusoidal: first all sines (Marian); sinusoidal_interleaved: as published; learned: a trained table",
         .option = "positions"},
        {.key = "pad_token_id", .value = token_number(pad_token_id)},
        {.key = "attention", .value = &attention},
    };
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

const Family& MarianConfig::family() {
    return marian_family();
}

const Family& marian_family() {
    static const Family family{
        .model_type = "marian",
        .command = "translate",
        .title = "encoder-decoder transformer",
        .architecture = "MarianMTModel",
        .recipe = "configs/multi30k-cpu.toml",
        .defaults = [] { return ModelConfig(MarianConfig()); },
        .fresh = [] { return ModelConfig(vaswani_base()); },
        .check = [](const ModelConfig& c) { check(c.as<MarianConfig>()); },
        .matrix_elements = [](const ModelConfig& c) { return matrix_elements(c.as<MarianConfig>()); },
        .adopt_weights =
            [](ModelConfig& c, const StoredWeights& weights) {
                MarianConfig made = c.as<MarianConfig>();
                adopt_weights(made, weights);
                c = made;
            },
        .tensors = {.buffers = {POSITION_TABLES[0], POSITION_TABLES[1]},
                    .tied = {{"model.encoder.embed_tokens.weight", "model.shared.weight"},
                             {"model.decoder.embed_tokens.weight", "model.shared.weight"},
                             {"lm_head.weight", "model.shared.weight"},
                             {"lm_head.weight", "model.decoder.embed_tokens.weight"}}},
        .graph = translation_graph<MarianConfig, read, features>(),
        .accounting = &accounting_by<MarianConfig, model_sizes, model_scale, resize>,
    };
    return family;
}

}  // namespace vkf
