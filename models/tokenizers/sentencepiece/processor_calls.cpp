#include "models/tokenizers/sentencepiece/processor_calls.h"

#include <charconv>

#include "models/tokenizers/vocabulary.h"

namespace vkf {

std::string bytes_of(const sentencepiece::SentencePieceProcessor& processor, const std::string& piece) {
    if (processor.IsByte(processor.PieceToId(piece))) {
        unsigned char byte = 0;
        std::from_chars(piece.data() + 3, piece.data() + 5, byte, 16);
        return std::string(1, static_cast<char>(byte));
    }
    std::string text;
    for (std::size_t from = 0, at = 0; at != piece.npos; from = at + SPACE_MARK.size()) {
        at = piece.find(SPACE_MARK, from);
        text.append(piece, from, at - from);
        if (at != piece.npos) text += ' ';
    }
    return text;
}

}  // namespace vkf
