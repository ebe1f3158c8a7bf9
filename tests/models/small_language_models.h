// Small language models for tests of generation: 23 tokens, 21 positions, two layers.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/families/gpt2.h"
#include "models/families/llama.h"
#include "models/families/nano_gpt2.h"
#include "program/state.h"
#include "tiny_gpt2.h"

namespace vkf::test {

inline Gpt2Config small(const std::string& variant, bool mask_diagonal) {
    Gpt2Config c{.vocab_size = 23, .n_positions = 21, .n_embd = 24, .n_layer = 2, .n_head = 3, .attention = {}};
    c.attention = attention_of(variant, 3.0f);
    c.attention.mask_diagonal = mask_diagonal;
    return c;
}

/// A Llama whose cache is as wide as that of small(). Query heads share keys and values, and all heads together are
/// wider than the model.
inline LlamaConfig small_llama(const std::string& variant, bool mask_diagonal) {
    LlamaConfig c;
    c.vocab_size = 23;
    c.max_position_embeddings = 21;
    c.hidden_size = 16;
    c.intermediate_size = 40;
    c.num_hidden_layers = 2;
    c.num_attention_heads = 6;
    c.num_key_value_heads = 3;
    c.head_dim = 8;
    c.attention = attention_of(variant, 3.0f);
    c.attention.mask_diagonal = mask_diagonal;
    return c;
}

inline NanoGpt2Config small_nano_gpt2(const std::string& variant, bool mask_diagonal) {
    NanoGpt2Config c;
    c.vocab_size = 23;
    c.n_positions = 21;
    c.n_embd = 24;
    c.n_layer = 2;
    c.n_head = 3;
    c.attention = attention_of(variant, 3.0f);
    c.attention.mask_diagonal = mask_diagonal;
    return c;
}

/// A small model of any family that continues text, by its model_type.
inline ModelConfig small_language_model(const std::string& family, const std::string& variant,
                                        bool mask_diagonal = false) {
    if (family == "llama") return small_llama(variant, mask_diagonal);
    if (family == "nano-gpt2") return small_nano_gpt2(variant, mask_diagonal);
    return small(variant, mask_diagonal);
}

/// Sets a kind of attention, with options that matter for so few positions.
inline void set_small_kind(AttentionConfig& attention, std::string_view kind) {
    attention.set_kind(kind);
    const std::map<std::string_view, std::int64_t> small{{"window", 5},
                                                         {"dilation", 2},
                                                         {"global_tokens", 2},
                                                         {"bigbird_block_size", 3},
                                                         {"bigbird_window_blocks", 1},
                                                         {"bigbird_random_blocks", 1}};
    for (const Field& field : attention.kind_options.fields())
        if (const auto found = small.find(field.key); found != small.end())
            *std::get<IntRange>(field.value).value = found->second;
}

/// Writes weights that are so large that attention is uneven, and the same for every program.
inline void fill(const Parameters& parameters, State& state) {
    for (const Parameter& parameter : parameters.list()) {
        std::vector<float> values = initial_values(parameter, 5);
        if (parameter.init.kind == Init::Kind::normal)
            for (float& value : values) value *= 10;
        state.write(parameter.name, values);
    }
}

inline std::vector<std::int32_t> words(std::size_t count) {
    Random random(3, "words");
    std::vector<std::int32_t> tokens(count);
    for (auto& token : tokens) token = static_cast<std::int32_t>(random.below(23));
    return tokens;
}

}  // namespace vkf::test
