#include "models/tokenizers/bpe/bpe.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/text/utf8.h"
#include "models/tokenizers/bpe/word_cache.h"
#include "models/tokenizers/encoder.h"
#include "models/tokenizers/vocabulary.h"

namespace vkf {
namespace {

std::string hexadecimal(unsigned byte) {
    char digits[8];
    std::snprintf(digits, sizeof digits, "0x%02X", byte);
    return digits;
}

}  // namespace

// Encodes texts with a tokenizer's tables and memory of its own.
class BpeEncoder final : public TextEncoder {
public:
    explicit BpeEncoder(const BpeTokenizer& tokenizer) : tokenizer_(tokenizer), pre_tokenizer_(tokenizer.splits_) {}

    void feed(std::string_view text, Tokens& tokens) override {
        while (!text.empty()) {
            const std::string_view portion = whole_characters(text);
            text.remove_prefix(portion.size());
            append(portion);
            if (pending_.size() >= wanted_) cut(true, tokens);
        }
    }

    void finish(Tokens& tokens) override {
        cut(false, tokens);
        begun_ = false;
    }

private:
    static std::string_view whole_characters(std::string_view text) {
        std::size_t end = std::min(text.size(), ENCODED_AT_ONCE);
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
        return text.substr(0, end);
    }

    void append(std::string_view text) {
        if (!tokenizer_.characters_) {
            pending_ += text;
            return;
        }
        if (!begun_ && tokenizer_.characters_->prepend_space) pending_ += ' ';
        begun_ = true;
        for (std::size_t at = 0, mark = 0; at < text.size(); at = mark + SPACE_MARK.size()) {
            mark = text.find(SPACE_MARK, at);
            pending_ += text.substr(at, mark - at);
            if (mark == text.npos) break;
            pending_ += ' ';
        }
    }

    void cut(bool more, Tokens& tokens) {
        const auto each = [&](std::string_view word) { encode(word, tokens); };
        pending_.erase(0, pre_tokenizer_.cut(pending_, more, each));
        // A word that does not end is searched again only when it is twice as long.
        wanted_ = std::max(ENCODED_AT_ONCE, 2 * pending_.size());
    }

    void encode(std::string_view word, Tokens& tokens) {
        if (const auto known = cache_.find(word); !known.empty()) {
            tokens.insert(tokens.end(), known.begin(), known.end());
            return;
        }
        word_.clear();
        const auto whole = tokenizer_.whole_words_ ? tokenizer_.vocabulary_.find(word) : std::nullopt;
        if (whole) {
            word_.push_back(*whole);
        } else {
            tokenizer_.initial_tokens(word, word_);
            merger_.merge(tokenizer_.merges_, word_);
        }
        cache_.insert(word, word_);
        tokens.insert(tokens.end(), word_.begin(), word_.end());
    }

    const BpeTokenizer& tokenizer_;
    PreTokenizer pre_tokenizer_;
    Merger merger_;
    WordCache cache_;
    std::string pending_;
    std::size_t wanted_ = ENCODED_AT_ONCE;
    bool begun_ = false;
    Tokens word_;
};

BpeTokenizer::BpeTokenizer(BpeModel model)
    : Tokenizer({std::move(model.added), model.bounds}),
      vocabulary_(std::move(model.tokens), model.hidden),
      merges_(model.merges),
      splits_(std::move(model.splits)),
      byte_tokens_(model.byte_tokens),
      whole_words_(model.whole_words),
      characters_(model.characters) {}

std::string BpeTokenizer::bytes(std::int32_t token) const {
    return vocabulary_[index_of(token)];
}

std::unique_ptr<TextEncoder> BpeTokenizer::text_encoder() const {
    return std::make_unique<BpeEncoder>(*this);
}

void BpeTokenizer::initial_tokens(std::string_view word, Tokens& tokens) const {
    bool after_unknown = false;
    for (std::size_t at = 0; at < word.size();) {
        const std::size_t bytes = characters_ ? decode_utf8(word, at).bytes : 1;
        const std::string_view symbol = word.substr(at, bytes);
        at += bytes;
        const auto known = characters_ ? vocabulary_.find(symbol) : std::nullopt;
        const auto token_of = [&](char byte) { return byte_tokens_[static_cast<unsigned char>(byte)]; };
        if (known) {
            tokens.push_back(*known);
        } else if (std::ranges::none_of(symbol, [&](char byte) { return token_of(byte) == NO_TOKEN; })) {
            for (const char byte : symbol) tokens.push_back(token_of(byte));
        } else {
            const bool has_unknown = characters_ && characters_->unknown;
            const auto first = static_cast<unsigned char>(symbol[0]);
            require(has_unknown, "the vocabulary has no token for ",
                    characters_ ? text("character '", symbol, "'") : text("byte ", hexadecimal(first)));
            if (!after_unknown || !characters_->fuse_unknown) tokens.push_back(*characters_->unknown);
            after_unknown = true;
            continue;
        }
        after_unknown = false;
    }
}

}  // namespace vkf
