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

#include "models/data/text/tokens.h"
#include "models/tokenizers/tokenizer.h"

namespace vkf {

/// Reads the text of a UTF-8 file, or of all text files below a directory in the order of their paths.
///
/// Every line end becomes '\n', as in Python's text mode, with which nanoGPT reads. In a directory, names that start
/// with '.' and files with a zero byte (not text) are skipped; a text whose last line has no end gets one, so that
/// files do not run together.
/// Throws: InputError naming the file and the byte that is not UTF-8, if there is no text at all, or for a file that is
/// JSON by its name (.json, .jsonl), whose braces and keys are not text.
std::string read_corpus(const std::filesystem::path& path);

/// Converts line ends as Python's text mode does: \r\n and a lone \r become \n.
void unify_line_ends(std::string& text);

/// nanoGPT's split: the first int(0.9 n) of n characters for training, the rest for validation.
std::pair<std::string_view, std::string_view> split_text(std::string_view text);

/// Number of training tokens or characters of n, by the same cut.
std::size_t training_share(std::size_t n);

/// A vocabulary of characters: tokens 0, 1, 2, … are a text's distinct characters in code-point
/// order. On disk (chars.json): {"type":"chars","chars":["\n"," ","!",…]}.
class Characters final : public Tokenizer {
public:
    static Characters of(std::string_view text);
    static Characters load(const std::filesystem::path& path);
    std::string json() const;

    std::size_t size() const override { return characters_.size(); }
    std::string bytes(std::int32_t token) const override;
    const char* unit() const override { return "characters"; }
    std::unique_ptr<TextEncoder> text_encoder() const override;
    /// Tokens of a text, as they are stored in memory and on disk.
    /// Throws: InputError naming a character that has no token, and its position.
    TokenList tokens_of(std::string_view text) const;

private:
    explicit Characters(std::vector<char32_t> characters);
    /// Appends the tokens of a text; `position` counts its characters, for messages.
    template <class Token>
    void append(std::string_view text, std::vector<Token>& tokens, std::size_t& position) const;
    friend class CharacterEncoder;

    std::vector<char32_t> characters_;    // ascending; the token is the index
    std::vector<std::int32_t> token_of_;  // by code point; -1 if there is no token
};

}  // namespace vkf
