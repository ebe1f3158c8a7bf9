// Settings of translation in a model's files: generation_config.json, or config.json if there is none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "models/families/family.h"
#include "models/translation/beam_search.h"

namespace vkf {

/// Settings that the files do not have are empty, or as in SearchRules.
struct TranslationSettings {
    std::filesystem::path file;  // the file that was read
    std::optional<std::int64_t> beams;
    std::optional<std::int64_t> longest;   // tokens of a translation, with its end
    std::optional<double> length_penalty;  // exponent of the length
    SearchRules rules = {};                // without early stopping if the files have a number of beams
};

/// Reads the settings of a model's directory: num_beams, max_length (which counts the token with which a translation
/// begins) or max_new_tokens, length_penalty, early_stopping, renormalize_logits, forced_eos_token_id and
/// bad_words_ids. Throws InputError naming file and key that is broken, contradicts the model's tokens or asks for
/// another way to generate, such as sampling.
TranslationSettings read_translation_settings(const std::filesystem::path& model, const TranslationTokens& tokens);

/// True if the files have any of these settings.
bool has_translation_settings(const std::filesystem::path& model);

}  // namespace vkf
