// A SentencePiece model that may rewrite texts: it cuts them into pieces whose numbers another file has.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizers/sentencepiece/text_normalizer.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace vkf {

/// The library gets the model with a normalizer that changes nothing, because it follows the offsets in a model's rules
/// without checking them. Rules and spaces are applied here, with the same results (text_normalizer.h).
class PieceModel {
public:
    /// Reads a model's bytes. Throws: InputError naming the file if they are no model, if rules are malformed, or if
    /// rules or spaces are applied in ways that are not supported: to the text of pieces, and at the ends of words.
    PieceModel(std::string_view content, const std::string& file);

    /// Cuts a text into pieces; neighbouring characters that no piece has are one piece.
    std::vector<std::string> cut(std::string_view text) const;
    /// Text of a piece, with spaces, which the model need not have. Control pieces have none.
    std::string bytes(const std::string& piece) const;
    /// The model's pieces for text.
    std::vector<std::string> pieces() const;
    /// The text that the library cuts.
    std::string normalized(std::string_view text) const { return normalizer_(text); }

private:
    std::string file_;
    TextNormalizer normalizer_;
    std::shared_ptr<const sentencepiece::SentencePieceProcessor> processor_;
};

}  // namespace vkf
