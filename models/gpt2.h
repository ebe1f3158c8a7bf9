// GPT-2: learned positions, pre-norm blocks, tied head; with any attention variant.
#pragma once

#include <cstdint>
#include <vector>

#include "models/attention/attention.h"
#include "models/scope.h"
#include "ops/activation.h"

namespace vkf {

/// config.json's keys under Hugging Face's names; `bias` and `attention` are ours.
struct Gpt2Config {
    std::int64_t vocab_size = 50257;
    std::int64_t n_positions = 1024;
    std::int64_t n_embd = 768;
    std::int64_t n_layer = 12;
    std::int64_t n_head = 12;
    std::int64_t n_inner = 0;  // 0: 4·n_embd
    Activation activation = Activation::gelu_tanh;
    float layer_norm_epsilon = 1e-5f;
    bool tie_word_embeddings = true;
    bool bias = true;
    AttentionConfig attention;

    std::int64_t inner() const { return n_inner ? n_inner : 4 * n_embd; }
    bool operator==(const Gpt2Config&) const = default;
};

/// Throws InputError naming the key and both values if a model of this configuration cannot be built.
void validate(const Gpt2Config& config);

/// Keys and values of earlier positions, for generating token by token; states of the graph, one pair per layer.
struct KeyValueCache {
    Tensor length;     // i32 [1]: positions filled once this call's tokens are in
    Tensor positions;  // i32 [T]: where this call's tokens stand
    std::int64_t capacity = 0;
    Format format = Format::f32;  // what activations will be kept in

    /// What keys and values are kept in: attention takes 16 bits where heads are made of whole pairs.
    static Format format_of(const Gpt2Config& config, Format activations);
};

/// Logits [B, T, V] of tokens i32 [B, T]. Parameters have Hugging Face's names (h.0.attn.c_attn.weight, …), the second
/// map of two-map variants h.N.attn.c_proj_s.weight; initial values as nanoGPT: N(0, 0.02), residual projections N(0,
/// 0.02/√(2·n_layer)). `last_only` keeps only the last position's logits: [B, 1, V].
Tensor gpt2(const Scope& scope, const Gpt2Config& config, Tensor tokens, const KeyValueCache* cache = nullptr,
            bool last_only = false);

/// Mean cross-entropy of a micro-batch; declares its inputs `tokens` and `targets`, i32 [batch, length].
Tensor gpt2_loss(const Scope& scope, const Gpt2Config& config, std::int64_t batch, std::int64_t length);

}  // namespace vkf
