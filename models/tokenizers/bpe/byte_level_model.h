// Common to the files of byte-level models: names that spell bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizers/bpe/bpe.h"

namespace vkf {

inline constexpr std::string_view END_OF_TEXT = "<|endoftext|>";

/// Fills in `tokens`, `byte_tokens` and `hidden` from names by number; `added` must be filled already. A name that does
/// not spell bytes stands for itself, and no text becomes its token.
void read_byte_level_tokens(BpeModel& model, std::vector<std::string> names);

/// The name of a token: its bytes spelt, or an added token's own.
std::string token_name(const BpeModel& model, std::int32_t token);

}  // namespace vkf
