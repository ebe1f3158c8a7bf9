// WordPiece (Wu et al. 2016, section 4.1; BERT, Devlin et al. 2019): a word becomes the longest piece of the vocabulary
// with which it begins, then the longest with which the rest begins, and so on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizers/tokenizer.h"
#include "models/tokenizers/vocabulary.h"
#include "models/tokenizers/wordpiece/bert_words.h"

namespace vkf {

/// All data of a WordPiece tokenizer.
struct WordPieceModel {
    std::vector<std::string> tokens;  // names; a piece inside a word begins with `inner_prefix`
    std::string inner_prefix = "##";
    std::string unknown = "[UNK]";   // token of a word that is too long or has no pieces
    std::size_t longest_word = 100;  // characters
    BertNormalizer normalizer;
    std::vector<AddedToken> added;
    TextBounds bounds;
};

/// Decoding puts a space before every piece that begins a word; a text begins with an additional one. Spaces of the
/// text are lost, and so is whatever the normalizer changes.
class WordPiece final : public Tokenizer {
public:
    /// Throws: InputError if the vocabulary lacks the token `unknown`.
    explicit WordPiece(WordPieceModel model);

    std::size_t size() const override { return vocabulary_.size(); }
    std::string bytes(std::int32_t token) const override;
    std::unique_ptr<TextEncoder> text_encoder() const override;
    bool prepends_space() const override { return true; }
    const char* unit() const override { return "pieces"; }

    const BertNormalizer& normalizer() const { return normalizer_; }

private:
    friend class WordPieceEncoder;
    /// Appends the pieces of a word, or the unknown token.
    void append_pieces(std::string_view word, Tokens& pieces) const;

    Vocabulary vocabulary_;
    std::vector<bool> added_;  // by token
    std::string inner_prefix_;
    std::int32_t unknown_ = 0;
    std::size_t longest_word_, longest_piece_ = 0;  // characters, bytes
    BertNormalizer normalizer_;
};

}  // namespace vkf
