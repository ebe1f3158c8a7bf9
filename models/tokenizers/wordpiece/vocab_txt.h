// BERT's vocab.txt: the name of a piece on every line, first piece first.
#pragma once

#include <filesystem>
#include <string>

#include "models/tokenizers/token_names.h"
#include "models/tokenizers/token_settings.h"
#include "models/tokenizers/wordpiece/wordpiece.h"

namespace vkf {

/// Pieces inside words begin with ##. [UNK], [CLS], [SEP], [MASK] and [PAD] are special tokens; texts begin with [CLS]
/// and end with [SEP]. Texts become lower case and lose their accents unless the settings say otherwise.
/// Throws: InputError naming the file and the line that is empty, not UTF-8 or there twice.
WordPieceModel read_vocab_txt(const std::filesystem::path& path, const TokenSettings& settings = {});

/// Fills in the tokens, the special tokens and the bounds of a model, and compares its normalizer with the settings.
/// Throws: InputError naming `file` and a difference.
void finish_word_piece(WordPieceModel& model, TokenNames& names, const TokenSettings& settings,
                       const std::string& file);

}  // namespace vkf
