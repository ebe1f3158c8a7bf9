// BERT: an encoder that predicts hidden words; learned positions, post-norm blocks, tied head with a bias per token;
// with any attention variant. Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers, 2018, without the
// prediction of next sentences.
#pragma once

#include <cstdint>
#include <vector>

#include "models/attention/attention_config.h"
#include "models/language_model.h"
#include "ops/elementwise/activation.h"

namespace vkf {

/// Keys of config.json have Hugging Face's names and defaults; those from mask_token_id on are additions of this
/// program.
struct BertConfig {
    std::int64_t vocab_size = 30522;
    std::int64_t max_position_embeddings = 512;
    std::int64_t type_vocab_size = 2;  // kinds of segments; all text is of the first
    std::int64_t hidden_size = 768;
    std::int64_t intermediate_size = 3072;  // 0: 4·hidden_size
    std::int64_t num_hidden_layers = 12;
    std::int64_t num_attention_heads = 12;
    Activation hidden_act = Activation::gelu;
    float layer_norm_eps = 1e-12f;
    bool tie_word_embeddings = true;
    std::int64_t mask_token_id = -1;  // -1: not known
    float mask_share = 0.15f;
    AttentionConfig attention;

    std::int64_t inner() const { return intermediate_size ? intermediate_size : 4 * hidden_size; }
    bool operator==(const BertConfig&) const = default;

    std::vector<Field> fields();
    static const Family& family();
};

/// Parameters have Hugging Face's names (bert.encoder.layer.0.attention.self.query.weight, …), the second map of
/// two-map variants bert.encoder.layer.N.attention.output.dense_s.weight; matrices are initially N(0, 0.02).
const Family& bert_family();

}  // namespace vkf
