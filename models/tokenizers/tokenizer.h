// Tokenizers: text to tokens, and tokens to text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vkf {

using Tokens = std::vector<std::int32_t>;

/// A token whose name is searched in a text before anything else. A special one, such as <|endoftext|>, stands for
/// something that no text says, and is searched only on request.
struct AddedToken {
    std::string text;
    std::int32_t token = 0;
    bool special = true;
};

/// Tokens at a text's ends.
struct TextBounds {
    std::optional<std::int32_t> begin;    // token with which the model wants every text to begin
    std::optional<std::int32_t> end;      // token that ends texts
    std::optional<std::int32_t> closing;  // token after a text that is encoded as a whole
};

/// Bytes of a text for a message: a single character with its number, 'z' (U+007A), else in quotes.
std::string shown_bytes(std::string_view bytes);

/// Meaning of a special token's name in a text: these characters, or the token.
enum class SpecialNames { text, tokens };

/// Encodes the text between two added tokens, which is fed in portions of whole characters, and ended. Keeps the part
/// that it cannot decide before it has seen the following text. May be used again for the next text.
class TextEncoder {
public:
    virtual ~TextEncoder() = default;
    /// Appends the tokens that can no longer change.
    virtual void feed(std::string_view text, Tokens& tokens) = 0;
    /// Appends the rest.
    virtual void finish(Tokens& tokens) = 0;
};

/// A vocabulary and the encoding of texts in it. Does not change after construction, so threads may share it.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;

    /// The size of the vocabulary; tokens are 0 … size() − 1.
    virtual std::size_t size() const = 0;
    /// Bytes of a token, which need not be whole characters; for an added token, its name.
    /// Throws: InputError naming a token outside the vocabulary.
    virtual std::string bytes(std::int32_t token) const = 0;
    virtual std::unique_ptr<TextEncoder> text_encoder() const = 0;

    /// True if every text is given a space to begin with, which is not its own.
    virtual bool prepends_space() const { return false; }
    /// True if every text is given a space to end with, which is not its own.
    virtual bool appends_space() const { return false; }
    /// Word for its tokens in messages.
    virtual const char* unit() const { return "tokens"; }

    /// Bytes of all tokens, as one text, without the spaces that are not the text's own.
    std::string decode(std::span<const std::int32_t> tokens) const;
    /// Encodes a whole text at once; `Encoder` takes it in portions.
    /// Throws: InputError naming the byte that is not UTF-8, or a character that has no token.
    Tokens encode(std::string_view text, SpecialNames names = SpecialNames::text) const;

    /// First difference between this vocabulary and another: "token 3 is 'z' (U+007A), wanted ' the'"; empty if tokens
    /// mean the same in both.
    std::string difference(const Tokenizer& wanted) const;

    const std::vector<AddedToken>& added_tokens() const { return added_.tokens; }
    /// The added token with that name, if there is one.
    std::optional<std::int32_t> added_token(std::string_view name) const;
    /// Token with which the model wants every text to begin, token with which it ends texts, and token after a whole
    /// text that is not continued. encode() writes none of them.
    std::optional<std::int32_t> begin_of_text() const { return added_.bounds.begin; }
    std::optional<std::int32_t> end_of_text() const { return added_.bounds.end; }
    std::optional<std::int32_t> closing_token() const { return added_.bounds.closing; }

protected:
    struct Added {
        std::vector<AddedToken> tokens;
        TextBounds bounds;
    };
    Tokenizer() = default;
    explicit Tokenizer(Added added) : added_(std::move(added)) {}
    /// Index of a token in the vocabulary. Throws: InputError naming a token outside it.
    std::size_t index_of(std::int32_t token) const;

private:
    Added added_;
};

}  // namespace vkf
