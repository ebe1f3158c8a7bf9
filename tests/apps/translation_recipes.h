// Numbers of the recipes of translation models, for recipes_test.cpp.
#pragma once

#include "recipe_rows.h"

namespace vkf::test {

/// Vaswani et al., "Attention Is All You Need", 2017: the base model, section 3.
inline const Rows vaswani_model{
    {"d-model", "512", "3.1"},
    {"encoder-layers", "6", "3.1"},
    {"decoder-layers", "6", "3.1"},
    {"encoder-attention-heads", "8", "3.2.2"},
    {"decoder-attention-heads", "8", "3.2.2"},
    {"encoder-ffn-dim", "2048", "3.3"},
    {"decoder-ffn-dim", "2048", "3.3"},
    {"activation", "relu", "3.3"},
    {"scale-embedding", "true", "3.4"},
    {"share-embeddings", "true", "3.4"},
    {"tie-word-embeddings", "true", "3.4"},
    {"normalize-before", "false", "3.1"},
    {"positions", "sinusoidal_interleaved", "3.5"},
    {"max-position-embeddings", "1024", "ours"},
};

/// Training of translation models: section 5 there. The batches are smaller.
inline const Rows vaswani_training{
    {"buckets", "8", "ours"},
    {"batch-tokens", "4096", "ours"},
    {"gradient-accumulation-steps", "1", "ours"},
    {"max-iters", "100000", "5.2"},
    {"eval-interval", "1000", "ours"},
    {"optimizer", "adamw", "5.3"},
    {"schedule", "inverse-sqrt", "5.3"},
    {"learning-rate", "7e-4", "5.3"},
    {"min-lr", "6e-5", "none"},
    {"warmup-iters", "4000", "5.3"},
    {"beta1", "0.9", "5.3"},
    {"beta2", "0.98", "5.3"},
    {"weight-decay", "0", "none"},
    {"decay-all", "false", "none"},
    {"grad-clip", "0", "none"},
    {"dropout", "0.1", "5.4"},
    {"label-smoothing", "0.1", "5.4"},
    {"z-loss", "0", "none"},
};

/// Wu et al., "Good for Misconceived Reasons", 2021: the tiny model for Multi30k.
inline const Rows multi30k{
    {"d-model", "128", "encoder_embed_dim"},
    {"encoder-layers", "4", "encoder_layers"},
    {"decoder-layers", "4", "decoder_layers"},
    {"encoder-attention-heads", "4", "encoder_attention_heads"},
    {"decoder-attention-heads", "4", "decoder_attention_heads"},
    {"encoder-ffn-dim", "256", "encoder_ffn_embed_dim"},
    {"decoder-ffn-dim", "256", "decoder_ffn_embed_dim"},
    {"max-position-embeddings", "256", "ours"},
    {"batch-tokens", "4096", "max_tokens"},
    {"max-iters", "4000", "ours"},
    {"eval-interval", "200", "ours"},
    {"learning-rate", "0.005", "lr"},
    {"warmup-iters", "2000", "warmup_updates"},
    {"dropout", "0.3", "dropout"},
};

/// LSTMs with attention; one table of tokens.
inline const Rows recurrent_model{
    {"hidden-size", "256", "ours"},
    {"num-layers", "1", "ours"},
    {"context-length", "256", "ours"},
    {"cell", "lstm", "ours"},
    {"bidirectional", "true", "Bahdanau et al., 3.2"},
    {"attention-score", "additive", "Bahdanau et al., 3.1"},
    {"score-rank", "0", "ours"},
    {"input-feeding", "false", "ours"},
    {"share-embeddings", "true", "ours"},
    {"tie-word-embeddings", "true", "ours"},
};
inline const Rows multi30k_rnn{
    {"attention-score", "general", "Luong et al., 3.1"},
    {"max-iters", "3000", "ours"},   {"eval-interval", "200", "ours"}, {"learning-rate", "0.003", "ours"},
    {"warmup-iters", "400", "ours"}, {"beta2", "0.999", "ours"},       {"dropout", "0.3", "ours"},
    {"grad-clip", "1", "ours"},
};

}  // namespace vkf::test
