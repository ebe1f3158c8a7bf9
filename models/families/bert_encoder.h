// The encoder of BERT, which its families share: learned positions, post-norm blocks, with any attention variant.
// Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers, 2018.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/attention/attention_config.h"
#include "models/families/accounting.h"
#include "models/layers.h"
#include "ops/elementwise/activation.h"

namespace vkf {

/// Base of a family's configuration. Keys of config.json have Hugging Face's names and defaults.
struct BertEncoderConfig {
    std::int64_t vocab_size = 30522;
    std::int64_t max_position_embeddings = 512;
    std::int64_t type_vocab_size = 2;  // kinds of segments; all text is of the first
    std::int64_t hidden_size = 768;
    std::int64_t intermediate_size = 3072;  // 0: 4·hidden_size
    std::int64_t num_hidden_layers = 12;
    std::int64_t num_attention_heads = 12;
    Activation hidden_act = Activation::gelu;
    float layer_norm_eps = 1e-12f;
    AttentionConfig attention;

    std::int64_t inner() const { return intermediate_size ? intermediate_size : 4 * hidden_size; }
    bool operator==(const BertEncoderConfig&) const = default;

    /// Fields of the encoder, with those of a model's head before the attention.
    std::vector<Field> encoder_fields(std::vector<Field> head);
};

/// Matrices are stored [out, in].
LinearOptions bert_linear();
/// LN(x) with weight and bias, in the scope "LayerNorm" of a part.
Tensor bert_norm(const Scope& part, const BertEncoderConfig& config, Tensor x);

struct BertEncoding {
    Tensor x;      // [B, T, C]
    Tensor words;  // token embeddings [V, C]
};

/// Encodes tokens i32 [B, T], of which lengths[b] of row b count, i32 [B]; absent: all. Other positions are hidden from
/// those that count, and their values have no meaning. Parameters have Hugging Face's names
/// (bert.encoder.layer.0.attention.self.query.weight, …), the second map of two-map variants
/// bert.encoder.layer.N.attention.output.dense_s.weight; matrices are initially N(0, 0.02).
BertEncoding bert_encode(const Scope& scope, const BertEncoderConfig& config, Tensor tokens, Tensor lengths = {});

/// Functions of a family for its encoder: checks of the configuration, elements of its matrices, and its sizes for
/// accounting without those of the head.
void check_bert_encoder(const BertEncoderConfig& config);
double bert_matrix_elements(const BertEncoderConfig& config);
ModelSizes bert_encoder_sizes(const BertEncoderConfig& config, std::int64_t length);
ModelScale bert_scale(const BertEncoderConfig& config);
void resize_bert(BertEncoderConfig& config, const ModelScale& wanted);

/// Names of a parameter in files that were converted from TensorFlow, which call the weight and bias of norms gamma and
/// beta.
std::vector<std::string> bert_tensorflow_names(std::string_view name);

}  // namespace vkf
