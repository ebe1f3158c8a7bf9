#include "models/gpt2.h"

#include <array>
#include <cmath>

#include "base/error.h"
#include "models/layers.h"
#include "ops/activation.h"
#include "ops/arithmetic.h"
#include "ops/attention.h"
#include "ops/embedding.h"
#include "ops/head_loss.h"
#include "ops/kv_cache.h"
#include "ops/matmul.h"
#include "ops/norm.h"
#include "ops/view.h"

namespace vkf {

namespace {

float residual_deviation(const Gpt2Config& c) {
    return 0.02f / std::sqrt(2.0f * static_cast<float>(c.n_layer));  // nanoGPT: two residual additions per layer
}

/// x + attention(norm): [B, T, C].
Tensor attention_block(const Scope& scope, const Gpt2Config& c, Tensor x, Tensor norm, const KeyValueCache* cache) {
    const Format cached = cache ? KeyValueCache::format_of(c, cache->format) : Format::f32;
    const Tensor qkv = linear(scope / "c_attn", norm, 3 * c.n_embd, {.bias = c.bias});
    const auto part = split(qkv, std::array{c.n_embd, c.n_embd, c.n_embd});
    const Tensor q = part[0], v = part[2];
    Tensor keys = part[1], values = v;
    AttentionOptions options{.heads = c.n_head,
                             .dropout = scope.noise().dropout,
                             .seed = scope.noise().seed,
                             .salt = scope.salt(),
                             .mask = {.causal = true, .diagonal = c.attention.mask_diagonal}};
    if (cache) {
        const std::int64_t batch = x.shape()[0];
        const auto stored = [&](std::string_view name, Tensor fresh) {
            const Tensor whole = scope.graph().state(scope.path() + "." + std::string(name),
                                                     {DType::f32, {batch, cache->capacity, c.n_embd}}, cached);
            return kv_cache_append(whole, fresh, cache->length);
        };
        keys = stored("cached_keys", keys);
        values = stored("cached_values", values);
        options.mask.key_lengths = cache->length;
    }
    const Tensor o = attention(q, keys, values, options);
    const Signals signals = variant_named(c.attention.variant).apply({o, v, c.n_head, c.n_head, c.attention});
    return output_maps(scope, "c_proj", signals, c.n_embd,
                       {.bias = c.bias, .init = Init::normal(residual_deviation(c))}, x);
}

/// x + mlp(norm): [B, T, C].
Tensor mlp_block(const Scope& scope, const Gpt2Config& c, Tensor x, Tensor norm) {
    const Tensor inner = activate(linear(scope / "c_fc", norm, c.inner(), {.bias = c.bias}), c.activation);
    return add_linear(scope / "c_proj", x, inner, {.bias = c.bias, .init = Init::normal(residual_deviation(c))});
}

}  // namespace

void validate(const Gpt2Config& c) {
    const auto positive = [](std::string_view key, std::int64_t value) {
        require(value > 0 && value < (std::int64_t{1} << 31), key, " is ", value, ", wanted a positive number");
    };
    positive("vocab_size", c.vocab_size);
    positive("n_positions", c.n_positions);
    positive("n_embd", c.n_embd);
    positive("n_layer", c.n_layer);
    positive("n_head", c.n_head);
    positive("n_inner", c.inner());
    require(c.n_embd % c.n_head == 0, "n_embd ", c.n_embd, " is not divisible by n_head ", c.n_head);
    require(c.n_embd / c.n_head <= 256, "n_embd / n_head is ", c.n_embd / c.n_head, ", wanted at most 256");
    require(c.layer_norm_epsilon >= 0.0f && std::isfinite(c.layer_norm_epsilon), "layer_norm_epsilon is ",
            c.layer_norm_epsilon, ", wanted a number of at least 0");
    require(std::isfinite(c.attention.gamma), "attention.gamma is ", c.attention.gamma, ", wanted a finite number");
    variant_named(c.attention.variant);
}

namespace {

/// What logits are made of: logits = features · tableᵀ.
struct Head {
    Tensor features;  // [B, T, C]
    Tensor table;     // [V, C]
};

Head head_of(const Scope& scope, const Gpt2Config& c, Tensor tokens, const KeyValueCache* cache, bool last_only) {
    validate(c);
    const std::int64_t length = tokens.shape()[1];
    require(length <= c.n_positions, "a sequence of ", length, " tokens exceeds n_positions ", c.n_positions);
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

}  // namespace

Format KeyValueCache::format_of(const Gpt2Config& c, Format activations) {
    return c.n_embd / c.n_head % 2 == 0 ? activations : Format::f32;
}

Tensor gpt2(const Scope& scope, const Gpt2Config& c, Tensor tokens, const KeyValueCache* cache, bool last_only) {
    const Head head = head_of(scope, c, tokens, cache, last_only);
    return matmul(head.features, head.table, {.transpose_b = true});
}

Tensor gpt2_loss(const Scope& scope, const Gpt2Config& c, std::int64_t batch, std::int64_t length) {
    const TensorType type{DType::i32, {batch, length}};
    const Tensor tokens = scope.graph().input("tokens", type), targets = scope.graph().input("targets", type);
    const Head head = head_of(scope, c, tokens, nullptr, false);
    return head_loss(head.features, head.table, targets, {.d_loss = scope.d_loss()});
}

}  // namespace vkf
