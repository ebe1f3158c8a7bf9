// Encodes texts of any length in portions, in memory that does not grow with the text.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizers/tokenizer.h"

namespace vkf {

/// Bytes that an encoder collects before it cuts them into words.
inline constexpr std::size_t ENCODED_AT_ONCE = 1 << 16;

/// Finds the added tokens in a text: the leftmost, and the longest of those that begin at the same place.
class AddedTokenFinder {
public:
    AddedTokenFinder(const std::vector<AddedToken>& added, SpecialNames names);

    /// The next added token from `from` on; or the place where one may begin that the text, if more of it follows, does
    /// not show completely (`added` is null); or the text's end.
    struct Found {
        std::size_t at;
        const AddedToken* added;
    };
    Found find(std::string_view text, std::size_t from, bool more) const;

private:
    /// The token, complete or not, that begins exactly at `at`; nothing if no token does.
    std::optional<Found> find_at(std::string_view text, std::size_t at, bool more) const;

    std::vector<const AddedToken*> sorted_;  // by text
    std::array<bool, 256> first_byte_ = {};
};

/// Encodes one text, fed in portions that may end anywhere, even inside a character. Between two calls it keeps at most
/// the longest stretch that the tokenizer cannot divide, such as a word. The tokens are those of the whole text.
class Encoder {
public:
    /// `tokenizer` must outlive the encoder.
    explicit Encoder(const Tokenizer& tokenizer, SpecialNames names = SpecialNames::text);

    /// Appends the tokens that can no longer change.
    /// Throws: InputError naming the byte, counted from the text's beginning, that is not UTF-8.
    void feed(std::string_view text, Tokens& tokens);
    /// Ends the text and appends the rest; the next text may follow.
    void finish(Tokens& tokens);

private:
    void take(bool more, Tokens& tokens);
    std::size_t whole_characters(bool more) const;

    AddedTokenFinder finder_;
    std::unique_ptr<TextEncoder> encoder_;
    std::string pending_;     // may be part of a character or an added token
    std::size_t before_ = 0;  // bytes of the text before pending_
};

}  // namespace vkf
