// BERT: an encoder (bert_encoder.h) that predicts hidden words by a tied head with a bias per token. Devlin et al.,
// BERT: Pre-training of Deep Bidirectional Transformers, 2018, without the prediction of next sentences.
#pragma once

#include <cstdint>
#include <vector>

#include "models/families/bert_encoder.h"
#include "models/language_model.h"

namespace vkf {

/// Keys of config.json have Hugging Face's names and defaults; those from mask_token_id on are additions of this
/// program.
struct BertConfig : BertEncoderConfig {
    bool tie_word_embeddings = true;
    std::int64_t mask_token_id = -1;  // -1: not known
    float mask_share = 0.15f;

    bool operator==(const BertConfig&) const = default;

    std::vector<Field> fields();
    static const Family& family();
};

/// Parameters have the names of bert_encode and, of the head, Hugging Face's (cls.predictions.transform.dense.weight,
/// …).
const Family& bert_family();

}  // namespace vkf
