// nano-GPT2 of BeliefFormer's experiments, which is modded-nanogpt as of its branch "casted": rotary positions, norms
// without weights, no biases, and weights that are rounded to 8-bit values.
#pragma once

#include <cstdint>
#include <vector>

#include "models/attention/attention_config.h"
#include "models/language_model.h"

namespace vkf {

/// Keys of config.json are GPT-2's if their meaning is the same.
struct NanoGpt2Config {
    std::int64_t vocab_size = 50257;
    std::int64_t n_positions = 1024;
    std::int64_t n_embd = 768;
    std::int64_t n_layer = 12;
    std::int64_t n_head = 12;
    float rms_norm_eps = 1e-6f;
    float rope_theta = 10000.0f;
    bool casted_weights = true;
    AttentionConfig attention;

    bool operator==(const NanoGpt2Config&) const = default;

    std::vector<Field> fields();
    static const Family& family();
};

/// Parameters have modded-nanogpt's names, matrices [out, in], initial values as PyTorch's Linear: uniform, ±1/√in.
/// Both output maps of attention scale their contribution to the residual stream by 1/√(2·n_layer).
const Family& nano_gpt2_family();

}  // namespace vkf
