// Byte-pair encoding: words begin as bytes or characters, and neighbours are joined by rank.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/tokenizers/bpe/merges.h"
#include "models/tokenizers/tokenizer.h"
#include "models/tokenizers/tokenizer_json/pre_tokenizer.h"
#include "models/tokenizers/vocabulary.h"

namespace vkf {

inline constexpr std::int32_t NO_TOKEN = -1;

/// All data of a byte-pair tokenizer.
struct BpeModel {
    std::vector<std::string> tokens;  // the bytes of each token; the name of an added token
    std::vector<Merge> merges;        // by rank
    std::vector<Split> splits;        // cut texts into words; none: a text is one word
    /// The token of each byte, or NO_TOKEN.
    std::array<std::int32_t, 256> byte_tokens = no_byte_tokens();

    /// A word that is a token becomes this token, regardless of the merges ("ignore_merges").
    bool whole_words = false;
    /// SentencePiece's form: words begin as characters; a character without a token becomes its bytes' tokens or else
    /// `unknown`; texts begin with an additional space, which decoding leaves out; and U+2581 is a space.
    struct Characters {
        std::optional<std::int32_t> unknown;
        bool fuse_unknown = false;   // neighbouring unknown characters become one token
        bool prepend_space = false;  // to every text
    };
    std::optional<Characters> characters;

    std::vector<AddedToken> added;
    TextBounds bounds;
    std::vector<std::int32_t> hidden;  // tokens that are not found by their bytes, such as <0x0A>

    static constexpr std::array<std::int32_t, 256> no_byte_tokens() {
        std::array<std::int32_t, 256> tokens;
        tokens.fill(NO_TOKEN);
        return tokens;
    }
};

class BpeTokenizer final : public Tokenizer {
public:
    explicit BpeTokenizer(BpeModel model);

    std::size_t size() const override { return vocabulary_.size(); }
    std::string bytes(std::int32_t token) const override;
    std::unique_ptr<TextEncoder> text_encoder() const override;
    bool prepends_space() const override { return characters_ && characters_->prepend_space; }

private:
    friend class BpeEncoder;
    /// Appends the tokens with which a word begins, before merges.
    void initial_tokens(std::string_view word, Tokens& tokens) const;

    Vocabulary vocabulary_;
    MergeTable merges_;
    std::vector<Split> splits_;
    std::array<std::int32_t, 256> byte_tokens_;
    bool whole_words_;
    std::optional<BpeModel::Characters> characters_;
};

}  // namespace vkf
