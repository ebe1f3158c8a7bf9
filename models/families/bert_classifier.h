// BERT as a classifier of sequences: its encoder (bert_encoder.h), a pooled state and a map to classes. Devlin et al.,
// BERT: Pre-training of Deep Bidirectional Transformers, 2018, section 4.1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/families/bert_encoder.h"
#include "models/sequence_model.h"

namespace vkf {

/// State of a whole sequence: that of its first token, or the mean over its tokens.
enum class Pooling : std::uint8_t { first, mean };

/// Keys of config.json have Hugging Face's names and defaults; pooling is an addition of this program.
struct BertClassifierConfig : BertEncoderConfig {
    std::int64_t num_labels = 2;
    std::vector<std::string> labels;  // names of the classes, if they are known
    Pooling pooling = Pooling::first;

    bool operator==(const BertClassifierConfig&) const = default;

    std::vector<Field> fields();
    static const Family& family();
};

/// logits = W·drop(tanh(P·pooled)), each map with a bias. Parameters have the names of bert_encode and, of the head,
/// Hugging Face's: P is bert.pooler.dense, W is classifier.
const Family& bert_classifier_family();

}  // namespace vkf
