#include "models/tokenizers/wordpiece/wordpiece.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/text/json.h"
#include "models/tokenizers/bpe/word_cache.h"

namespace vkf {
namespace {

bool continues_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0u) == 0x80u;
}

std::vector<std::int32_t> numbers_of(const std::vector<AddedToken>& added) {
    std::vector<std::int32_t> numbers;
    for (const AddedToken& token : added) numbers.push_back(token.token);
    return numbers;
}

}  // namespace

// Encodes texts with a tokenizer's tables and memory of its own.
class WordPieceEncoder final : public TextEncoder {
public:
    explicit WordPieceEncoder(const WordPiece& tokenizer) : tokenizer_(tokenizer), words_(tokenizer.normalizer_) {}

    void feed(std::string_view text, Tokens& tokens) override {
        words_.feed(text, [&](std::string_view word) { encode(word, tokens); });
    }

    void finish(Tokens& tokens) override {
        words_.finish([&](std::string_view word) { encode(word, tokens); });
    }

private:
    void encode(std::string_view word, Tokens& tokens) {
        auto known = cache_.find(word);
        if (known.empty()) {
            pieces_.clear();
            tokenizer_.append_pieces(word, pieces_);
            cache_.insert(word, pieces_);
            known = pieces_;
        }
        tokens.insert(tokens.end(), known.begin(), known.end());
    }

    const WordPiece& tokenizer_;
    BertWords words_;
    WordCache cache_;
    Tokens pieces_;
};

WordPiece::WordPiece(WordPieceModel model)
    : Tokenizer({model.added, model.bounds}),
      vocabulary_(std::move(model.tokens), numbers_of(model.added)),
      added_(vocabulary_.size()),
      inner_prefix_(std::move(model.inner_prefix)),
      longest_word_(model.longest_word),
      normalizer_(model.normalizer) {
    for (const AddedToken& token : model.added) added_[static_cast<std::size_t>(token.token)] = true;
    for (std::size_t token = 0; token < vocabulary_.size(); ++token)
        longest_piece_ = std::max(longest_piece_, vocabulary_[token].size());
    while (std::cmp_less(unknown_, size()) && vocabulary_[static_cast<std::size_t>(unknown_)] != model.unknown)
        ++unknown_;
    require(std::cmp_less(unknown_, size()), "the vocabulary has no token ", one_line(nlohmann::json(model.unknown)),
            " for unknown words");
}

std::string WordPiece::bytes(std::int32_t token) const {
    const std::size_t index = index_of(token);
    const std::string& name = vocabulary_[index];
    if (added_[index]) return name;
    const bool inner = name.starts_with(inner_prefix_) && name.size() > inner_prefix_.size();
    return inner ? name.substr(inner_prefix_.size()) : " " + name;
}

std::unique_ptr<TextEncoder> WordPiece::text_encoder() const {
    return std::make_unique<WordPieceEncoder>(*this);
}

void WordPiece::append_pieces(std::string_view word, Tokens& pieces) const {
    const auto characters = word.size() - static_cast<std::size_t>(std::ranges::count_if(word, continues_character));
    const std::size_t before = pieces.size();
    std::string piece;
    for (std::size_t at = 0; at < word.size() && characters <= longest_word_;) {
        piece = at > 0 ? inner_prefix_ : "";
        const std::size_t prefix = piece.size();
        piece += word.substr(at, std::max(longest_piece_, prefix) - prefix);
        auto found = vocabulary_.find(piece);
        while (!found && piece.size() > prefix) {
            piece.pop_back();
            found = vocabulary_.find(piece);
        }
        if (piece.size() == prefix) break;
        pieces.push_back(*found);
        at += piece.size() - prefix;
        if (at == word.size()) return;
    }
    pieces.resize(before);
    pieces.push_back(unknown_);
}

}  // namespace vkf
