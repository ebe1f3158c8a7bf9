// Text as tokens, and tokens as text: what every tokenizer can do.
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

/// A token with a name that is found in a text before anything else is looked at. A special one, such as
/// <|endoftext|>, stands for something that no text says, and is found only where that is asked for.
struct AddedToken {
    std::string text;
    std::int32_t token = 0;
    bool special = true;
};

/// Tokens at a text's ends.
struct TextBounds {
    std::optional<std::int32_t> begin;    // that the model wants every text to begin with
    std::optional<std::int32_t> end;      // that ends texts
    std::optional<std::int32_t> closing;  // that every text is encoded with at its end
};

/// Bytes of a text for a message: a single character with its number, 'z' (U+007A), else in quotes.
std::string shown_bytes(std::string_view bytes);

/// What a text that contains the name of a special token means by it: these characters, or the token.
enum class SpecialNames { text, tokens };

/// A text between two added tokens, on its way to tokens: fed in portions of whole characters, and ended. Keeps what it
/// cannot decide on before it has seen what follows. May be used again for the next text.
class TextEncoder {
public:
    virtual ~TextEncoder() = default;
    /// Appends the tokens that are decided.
    virtual void feed(std::string_view text, Tokens& tokens) = 0;
    /// Appends the rest.
    virtual void finish(Tokens& tokens) = 0;
};

/// A vocabulary and how texts become tokens of it. Does not change once it is made: threads may share it.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;

    /// The size of the vocabulary; tokens are 0 … size() − 1.
    virtual std::size_t size() const = 0;
    /// The bytes that a token stands for, which need not be whole characters. Of an added token, its name.
    /// Throws: InputError naming a token outside the vocabulary.
    virtual std::string bytes(std::int32_t token) const = 0;
    virtual std::unique_ptr<TextEncoder> text_encoder() const = 0;

    /// Whether every text is given a space to begin with, which is not its own.
    virtual bool prepends_space() const { return false; }
    /// What messages call its tokens.
    virtual const char* unit() const { return "tokens"; }

    /// The bytes of all tokens, as one text, without the space that is not its own.
    std::string decode(std::span<const std::int32_t> tokens) const;
    /// A whole text at once; `Encoder` takes it in portions.
    /// Throws: InputError naming the byte that is not UTF-8, or a character that has no token.
    Tokens encode(std::string_view text, SpecialNames names = SpecialNames::text) const;

    /// Where this vocabulary first differs from another: "token 3 is 'z' (U+007A), wanted ' the'"; empty if tokens mean
    /// the same in both.
    std::string difference(const Tokenizer& wanted) const;

    const std::vector<AddedToken>& added_tokens() const { return added_.tokens; }
    /// The added token of that name, if there is one.
    std::optional<std::int32_t> added_token(std::string_view name) const;
    /// What the model wants every text to begin with, what it ends texts with, and what a whole text, with which
    /// nothing goes on, is to be followed by. encode() writes none of them.
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
    /// A token's place in the vocabulary. Throws: InputError naming a token outside it.
    std::size_t index_of(std::int32_t token) const;

private:
    Added added_;
};

}  // namespace vkf
