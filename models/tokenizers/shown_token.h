// Tokens as labels in pictures.
#pragma once

#include <cstdint>
#include <string>

#include "models/tokenizers/tokenizer.h"

namespace vkf {

/// Bytes of a token as text, with "▁" for a blank, "↵" for the end of a line and "�" for what is not UTF-8; its number
/// if the tokenizer is null or has no such token.
std::string shown_token(const Tokenizer* tokenizer, std::int32_t token);

}  // namespace vkf
