// Calls of SentencePiece's library that every reader of its models makes.
#pragma once

#include <sentencepiece_processor.h>

#include <exception>
#include <string>
#include <string_view>

#include "base/error.h"

namespace vkf {

/// True if the call succeeds: the library reports some faults of a model by a status, others by an exception.
bool succeeds(const auto& call) {
    try {
        return call().ok();
    } catch (const std::exception&) {
        return false;
    }
}

/// Cuts a text into pieces, or into their numbers. Throws: InputError beginning with `where`, because a model that the
/// library has loaded may still have pieces that contradict each other.
void encode_pieces(const sentencepiece::SentencePieceProcessor& processor, std::string_view text, auto* pieces,
                   const std::string& where = "tokenizer.model") {
    require(succeeds([&] { return processor.Encode(text, pieces); }), where,
            ": SentencePiece cannot encode text with it");
}

/// Bytes of a piece: the byte that a piece like <0x0A> names, or else the piece's characters.
std::string bytes_of(const sentencepiece::SentencePieceProcessor& processor, const std::string& piece);

}  // namespace vkf
