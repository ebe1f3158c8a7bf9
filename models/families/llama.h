// Llama: rotary positions, RMSNorm, gated MLP, heads of keys and values that queries share; with any attention variant.
#pragma once

#include <cstdint>
#include <vector>

#include "models/attention/attention_config.h"
#include "models/attention/rope_scaling.h"
#include "models/language_model.h"
#include "ops/elementwise/activation.h"

namespace vkf {

/// Keys of config.json have Hugging Face's names and defaults; `attention` is an addition of this program.
struct LlamaConfig {
    std::int64_t vocab_size = 32000;
    std::int64_t max_position_embeddings = 2048;
    std::int64_t hidden_size = 4096;
    std::int64_t intermediate_size = 11008;  // 0: 4·hidden_size
    std::int64_t num_hidden_layers = 32;
    std::int64_t num_attention_heads = 32;
    std::int64_t num_key_value_heads = 0;  // 0: num_attention_heads
    std::int64_t head_dim = 0;             // 0: hidden_size / num_attention_heads
    Activation hidden_act = Activation::silu;
    float rms_norm_eps = 1e-6f;
    float rope_theta = 1e4f;
    AnyConfig rope_scaling = RopeScaling();
    bool tie_word_embeddings = false;
    bool attention_bias = false;
    bool mlp_bias = false;
    AttentionConfig attention;

    std::int64_t inner() const { return intermediate_size ? intermediate_size : 4 * hidden_size; }
    std::int64_t kv_heads() const { return num_key_value_heads ? num_key_value_heads : num_attention_heads; }
    std::int64_t head_width() const { return head_dim ? head_dim : hidden_size / num_attention_heads; }
    bool operator==(const LlamaConfig&) const = default;

    std::vector<Field> fields();
    static const Family& family();
};

/// Parameters have Hugging Face's names (model.layers.0.self_attn.q_proj.weight, …), the second map of two-map variants
/// model.layers.N.self_attn.o_proj_s.weight; matrices are initially N(0, 0.02), without a special rule for residuals.
const Family& llama_family();

}  // namespace vkf
