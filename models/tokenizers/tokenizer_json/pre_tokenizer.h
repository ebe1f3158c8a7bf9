// Pre-tokenization: cuts a text into words; no token extends across words.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/tokenizers/tokenizer_json/pattern.h"

namespace vkf {

/// GPT-2's words: contractions, letters, numbers and other signs, each with the space before it, and white space.
extern const char* const GPT2_PATTERN;

/// Cuts a text at the matches of a pattern: a match is a word, and so is the text between two matches.
struct Split {
    Pattern pattern;
    bool drop_between = false;  // only matches are words
};

/// Splits for vocabularies without a pattern of their own: words begin with spaces, and with line ends if these are
/// tokens by themselves. None if a token extends from another character to a space, or if a space is no token: words
/// are not independent then.
std::vector<Split> splits_before_spaces(std::span<const std::string> tokens);

/// Cuts texts into words by several splits, each of which cuts the words of the one before it. Each thread needs its
/// own.
class PreTokenizer {
public:
    explicit PreTokenizer(const std::vector<Split>& splits);

    /// Calls word(std::string_view) for each word of the text, in order. With `more`, further text follows, and word is
    /// called only for words that can no longer change. Returns the number of bytes of these words; the rest must be
    /// passed again.
    template <class Word>
    std::size_t cut(std::string_view text, bool more, Word&& word) const {
        return cut(text, more, word, 0);
    }

private:
    template <class Word>
    std::size_t cut(std::string_view text, bool more, Word& word, std::size_t level) const {
        if (level == splits_.size()) {
            if (more) return 0;
            if (!text.empty()) word(text);
            return text.size();
        }
        const auto& [matcher, drop_between] = splits_[level];
        for (std::size_t at = 0;;) {
            const Matcher::Match match = matcher.find(text, at, more);
            const std::string_view between = text.substr(at, match.begin - at);
            // A match that is not whole may come to nothing, and the text before it may continue. A part of that text
            // can be cut already, and the rest later as if it began here, because patterns do not look behind.
            const bool goes_on = more && !match.whole;
            const std::size_t taken =
                drop_between || between.empty() ? between.size() : cut(between, goes_on, word, level + 1);
            if (!match.whole) return at + taken;
            cut(text.substr(match.begin, match.end - match.begin), false, word, level + 1);
            at = match.end;
        }
    }

    std::vector<std::pair<Matcher, bool>> splits_;
};

}  // namespace vkf
