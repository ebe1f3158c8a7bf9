// Recurrent encoder and decoder with attention: the models of translation before the transformer (Sutskever et al.,
// arXiv 1409.3215; Cho et al., arXiv 1406.1078; Bahdanau et al., arXiv 1409.0473; Luong et al., arXiv 1508.04025).
//
// The encoder is a stack of RNNs, LSTMs or GRUs over the source, in one direction or both. The decoder is such a stack
// over the target, and begins with the encoder's last states; those of two directions are first mapped by
// bridge.{h,c}_lN. At every target position the uppermost state s and a context a, attention's sum of the encoder's
// outputs (models/attention/scored_attention.h), make the features tanh(W_c [a; s]) (Luong et al., eq 5). With
// input_feeding the features of a position are also inputs of the next one (Luong et al., §3.3).
#pragma once

#include <cstdint>
#include <vector>

#include "models/attention/scored_attention.h"
#include "models/families/translation_vocabulary.h"
#include "models/translation_model.h"
#include "ops/recurrent/cell.h"

namespace vkf {

struct RnnEncoderDecoderConfig : TranslationVocabulary {
    std::int64_t context_length = 256;  // tokens of the longest sentence
    std::int64_t hidden_size = 256;     // of embeddings and states
    std::int64_t num_layers = 1;        // of the encoder, and of the decoder
    Cell cell = Cell::lstm;
    bool bidirectional = true;
    AttentionScore attention_score = AttentionScore::additive;
    std::int64_t score_rank = 0;  // of low_rank and additive scores; 0: hidden_size
    bool input_feeding = false;

    bool operator==(const RnnEncoderDecoderConfig&) const = default;
    std::vector<Field> fields();
    static const Family& family();
};
const Family& rnn_encoder_decoder_family();

}  // namespace vkf
