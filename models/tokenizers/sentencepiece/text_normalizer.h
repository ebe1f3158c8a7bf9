// Text in the form in which a SentencePiece model was trained on it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizers/sentencepiece/charsmap.h"

namespace vkf {

/// Settings of a model's NormalizerSpec. Defaults are those of the library.
struct NormalizerSettings {
    bool add_dummy_prefix = true;          // a space before the text
    bool remove_extra_whitespaces = true;  // no spaces at the ends, and no two together
    bool escape_whitespaces = true;        // U+2581 for a space
};

/// Rewrites texts as SentencePiece does before it cuts them into pieces. At each place of the text, one of these is
/// taken, the first that applies: the longest user-defined symbol, which stays as it is; the longest rule; one
/// character, or U+FFFD for a byte that is not UTF-8. Then the settings apply to spaces, U+0020. An empty text stays
/// empty.
class TextNormalizer {
public:
    TextNormalizer(Charsmap rules, const NormalizerSettings& settings, std::vector<std::string> symbols);

    std::string operator()(std::string_view text) const;

private:
    /// Beginning of a text, and the text that replaces it.
    struct Part {
        std::size_t bytes;  // at least 1
        std::string_view text;
    };
    Part first_part(std::string_view text) const;
    std::size_t longest_symbol(std::string_view text) const;

    Charsmap rules_;
    NormalizerSettings settings_;
    std::vector<std::string> symbols_;  // sorted
};

}  // namespace vkf
