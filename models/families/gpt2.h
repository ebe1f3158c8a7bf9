// GPT-2: learned positions, pre-norm blocks, tied head; with any attention variant.
#pragma once

#include <cstdint>
#include <vector>

#include "models/attention/attention_config.h"
#include "models/language_model.h"
#include "ops/elementwise/activation.h"

namespace vkf {

/// Keys of config.json have Hugging Face's names; `bias` and `attention` are additions of this program.
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
    bool scale_attn_weights = true;                // scales scores by 1/√(head width)
    bool scale_attn_by_inverse_layer_idx = false;  // and by 1/(layer + 1), layers from 0
    AttentionConfig attention;

    std::int64_t inner() const { return n_inner ? n_inner : 4 * n_embd; }
    bool operator==(const Gpt2Config&) const = default;

    std::vector<Field> fields();
    static const Family& family();
};

/// Parameters have Hugging Face's names (h.0.attn.c_attn.weight, …), the second map of two-map variants
/// h.N.attn.c_proj_s.weight; initial values as in nanoGPT: N(0, 0.02), residual projections N(0, 0.02/√(2·n_layer)).
const Family& gpt2_family();

}  // namespace vkf
