// Text as training data: reading it, splitting it, and the vocabulary of its characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/data/tokens.h"

namespace vkf {

/// The text of a UTF-8 file, or of all text files below a directory in the order of their paths.
///
/// Line ends become '\n' whatever they were, as in Python's text mode, which nanoGPT reads with. In
/// a directory, names that start with '.' and files with a zero byte (not text) are passed over; a
/// text that does not end its last line gets a line end, so that files do not run together.
/// Throws: InputError naming the file and the byte that is not UTF-8, or that there is no text at all.
std::string read_corpus(const std::filesystem::path& path);

/// nanoGPT's split: the first int(0.9 n) of n characters for training, the rest for validation.
std::pair<std::string_view, std::string_view> split_text(std::string_view text);

/// The same cut for n tokens or characters: how many are for training.
std::size_t training_share(std::size_t n);

/// A vocabulary of characters: tokens 0, 1, 2, … are a text's distinct characters in code-point
/// order. On disk (chars.json): {"type":"chars","chars":["\n"," ","!",…]}.
class Characters {
public:
    static Characters of(std::string_view text);
    static Characters load(const std::filesystem::path& path);
    std::string json() const;

    std::size_t size() const { return characters_.size(); }
    /// Where this vocabulary first differs from another: "token 3 is 'z' (U+007A), wanted 'a' (U+0061)"; empty if they
    /// are the same.
    std::string difference(const Characters& wanted) const;

    /// Throws: InputError naming a character that has no token, and its place.
    std::vector<std::int32_t> encode(std::string_view text) const { return encoded<std::int32_t>(text); }
    /// The same, as they are kept in memory and on disk.
    TokenList tokens_of(std::string_view text) const;

    /// Throws: InputError naming a token that is no character.
    std::string decode(std::span<const std::int32_t> tokens) const;

private:
    explicit Characters(std::vector<char32_t> characters);
    template <class Token>
    std::vector<Token> encoded(std::string_view text) const;

    std::vector<char32_t> characters_;    // ascending; the token is the index
    std::vector<std::int32_t> token_of_;  // by code point; -1 has no token
};

}  // namespace vkf
