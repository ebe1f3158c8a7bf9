#include "models/families/translation_vocabulary.h"

namespace vkf {

namespace {

constexpr std::int64_t MOST_TOKENS = 1'000'000'000;

}  // namespace

TranslationTokens TranslationVocabulary::tokens() const {
    return {.source_vocabulary = vocab_size,
            .target_vocabulary = target_vocabulary(),
            .shared = share_encoder_decoder_embeddings,
            .begin = static_cast<std::int32_t>(decoder_start_token_id),
            .end = static_cast<std::int32_t>(eos_token_id)};
}

void TranslationVocabulary::set_tokens(const TranslationTokens& wanted) {
    vocab_size = wanted.source_vocabulary;
    decoder_vocab_size = wanted.target_vocabulary;
    share_encoder_decoder_embeddings = share_encoder_decoder_embeddings && wanted.shared;
    decoder_start_token_id = wanted.begin;
    eos_token_id = wanted.end;
}

IntRange token_number(std::int64_t& value) {
    return {.value = &value, .least = 0, .most = MOST_TOKENS, .counts_zero = true};
}

std::vector<Field> TranslationVocabulary::vocabulary_fields() {
    return {
        {.key = "vocab_size",
         .value = IntRange{&vocab_size, 1, MOST_TOKENS},
         .required = true,
         .dimension = Dimension::vocab_size},
        {.key = "decoder_vocab_size", .value = IntRange{&decoder_vocab_size, 0, MOST_TOKENS, vocab_size}},
        {.key = "share_encoder_decoder_embeddings",
         .value = &share_encoder_decoder_embeddings,
         .help = "one table of tokens for sources and targets, which then have one tokenizer",
         .option = "share-embeddings"},
        {.key = "tie_word_embeddings",
         .value = &tie_word_embeddings,
         .help = "the targets' table of tokens makes the logits"},
        {.key = "decoder_start_token_id", .value = token_number(decoder_start_token_id)},
        {.key = "eos_token_id", .value = token_number(eos_token_id)},
    };
}

}  // namespace vkf
