// Vocabularies and tables of tokens, the part of a configuration that all translation families have.
#pragma once

#include <cstdint>
#include <vector>

#include "models/families/family.h"

namespace vkf {

/// Base of a family's configuration. Keys of config.json have Hugging Face's names.
struct TranslationVocabulary {
    std::int64_t vocab_size = 10'000;
    std::int64_t decoder_vocab_size = 0;           // of targets, if the table is not shared; 0: vocab_size
    bool share_encoder_decoder_embeddings = true;  // one table for sources and targets
    bool tie_word_embeddings = true;               // the targets' table makes the logits
    std::int64_t decoder_start_token_id = 0;
    std::int64_t eos_token_id = 0;

    std::int64_t target_vocabulary() const {
        return share_encoder_decoder_embeddings || decoder_vocab_size == 0 ? vocab_size : decoder_vocab_size;
    }
    TranslationTokens tokens() const;
    void set_tokens(const TranslationTokens& wanted);

    bool operator==(const TranslationVocabulary&) const = default;
    std::vector<Field> vocabulary_fields();
};

/// Field of a token's number.
IntRange token_number(std::int64_t& value);

/// Graph of a family with this configuration and these functions.
template <class Config, SourceMemory (*READ)(const Scope&, const Config&, const Sentences&),
          Features (*FEATURES)(const Scope&, const Config&, const SourceMemory&, const Sentences&, KeyValueCache*)>
TranslationGraph translation_graph() {
    return {
        .read = [](const Scope& scope, const ModelConfig& c,
                   const Sentences& source) { return READ(scope, c.as<Config>(), source); },
        .features = [](const Scope& scope, const ModelConfig& c, const SourceMemory& memory, const Sentences& target,
                       KeyValueCache* cache) { return FEATURES(scope, c.as<Config>(), memory, target, cache); },
        .tokens = [](const ModelConfig& c) { return c.as<Config>().tokens(); },
        .set_tokens =
            [](ModelConfig& c, const TranslationTokens& wanted) {
                Config made = c.as<Config>();
                made.set_tokens(wanted);
                c = made;
            }};
}

}  // namespace vkf
