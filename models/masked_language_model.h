// Masked language models: encoders that learn to predict hidden words from the words on both sides (Devlin et al.,
// BERT: Pre-training of Deep Bidirectional Transformers, 2018, section 3.1).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/random.h"
#include "models/config/model_config.h"
#include "models/data/batch.h"
#include "models/tokenizers/tokenizer.h"

namespace vkf {

/// A model's way of hiding words.
struct Masking {
    std::int64_t vocab_size = 0;
    std::int64_t mask_token = 0;  // stands for a hidden word
    float share = 0.15f;          // of the words, chosen to be predicted
};

/// Chooses each token with probability `share`. A chosen token becomes its position's target; in the input, 80 % of the
/// chosen become the mask token, 10 % another token of the vocabulary, each with the same probability, and 10 % stay.
/// All other targets become -1. Tokens that have no target before, the mask token and `special` ones are never chosen.
void hide_words(const Masking& masking, std::span<const std::int32_t> special, Batch& batch, Random& random);

/// Tokens of the tokenizer that stand for no text; none without a tokenizer.
Tokens special_tokens(const Tokenizer* tokenizer);
/// The tokenizer's own name of the mask token, [MASK] or <mask>, among its added tokens.
const AddedToken* mask_token(const Tokenizer& tokenizer);

/// Sets the mask token of a configuration that has none yet to the tokenizer's. Does nothing if the family has no mask
/// token, or the tokenizer has none.
void adopt_mask_token(ModelConfig& config, const Tokenizer* tokenizer);

/// Number of predictions, and of right ones.
struct Predictions {
    std::int64_t count = 0, right = 0;

    /// Compares the likeliest tokens of a batch with its targets; those without a target do not count.
    void add(std::span<const std::int32_t> likeliest, std::span<const std::int32_t> targets);
    /// Share of right predictions; 0 if there are none.
    double accuracy() const { return count == 0 ? 0 : static_cast<double>(right) / static_cast<double>(count); }
};

}  // namespace vkf
