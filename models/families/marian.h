// Marian: the encoder-decoder transformer of Vaswani et al. ("Attention Is All You Need", 2017), under the names of
// Hugging Face's Marian models; with any attention variant in the self-attentions.
//
// x of a stack begins as √C · table[token] + position (C = d_model; the factor if scale_embedding is set), with
// dropout. Sublayers are applied in post-norm, x ← LN(x + drop(f(x))), or, with normalize_before, in pre-norm, x ← x +
// drop(f(LN(x))), with one more LN at the end of each stack. An encoder's layer has self-attention and an MLP; a
// decoder's has causal self-attention, cross-attention and an MLP. Cross-attention, with queries of the decoder, and
// keys and values of the encoder's output, is always standard. Models of other programs may add a bias per token to
// the logits, `final_logits_bias` [1, V], which training does not change, as in Hugging Face's models.
#pragma once

#include <cstdint>
#include <vector>

#include "models/attention/attention_config.h"
#include "models/attention/sinusoidal_positions.h"
#include "models/families/translation_vocabulary.h"
#include "models/translation_model.h"
#include "ops/elementwise/activation.h"

namespace vkf {

/// Positions of tokens: a table of sines and cosines in Marian's or in the published order, or a trained table.
enum class PositionEmbedding : std::uint8_t { sinusoidal_halves, sinusoidal_interleaved, learned };

/// Keys of config.json have Hugging Face's names; `normalize_before`, `position_embedding_type` and `attention` are
/// additions of this program.
struct MarianConfig : TranslationVocabulary {
    std::int64_t max_position_embeddings = 1024;
    std::int64_t d_model = 1024;
    std::int64_t encoder_layers = 12;
    std::int64_t decoder_layers = 12;
    std::int64_t encoder_attention_heads = 16;
    std::int64_t decoder_attention_heads = 16;
    std::int64_t encoder_ffn_dim = 4096;
    std::int64_t decoder_ffn_dim = 4096;
    Activation activation = Activation::gelu;
    bool scale_embedding = false;
    bool normalize_before = false;
    PositionEmbedding positions = PositionEmbedding::sinusoidal_halves;
    std::int64_t pad_token_id = 58100;
    bool final_logits_bias = false;  // the weights have a bias per token, added to the logits; no key says so
    AttentionConfig attention;       // of self-attention

    MarianConfig();
    void set_tokens(const TranslationTokens& wanted);

    bool operator==(const MarianConfig&) const = default;
    std::vector<Field> fields();
    static const Family& family();
};
const Family& marian_family();

}  // namespace vkf
