// GPT-2's two files: a vocabulary (vocab.json or encoder.json) and its merges (merges.txt or vocab.bpe).
#pragma once

#include <filesystem>
#include <string>

#include "models/tokenizers/bpe/bpe.h"
#include "models/tokenizers/token_settings.h"

namespace vkf {

/// A byte-level model that cuts words as GPT-2 does; <|endoftext|>, if the vocabulary has it, ends texts unless the
/// settings say otherwise.
/// Throws: InputError naming file, token or line, what was found and what was wanted.
BpeModel read_gpt2_files(const std::filesystem::path& vocabulary, const std::filesystem::path& merges,
                         const TokenSettings& settings = {});

/// Texts of the two files of a byte-level model.
std::string vocab_json(const BpeModel& model);
std::string merges_txt(const BpeModel& model);

}  // namespace vkf
