// Pre-tokenization: a text is cut into words, across which no token reaches.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/tokenizers/pattern.h"

namespace vkf {

/// GPT-2's words: contractions, letters, numbers and other signs, each with the space before it, and white space.
extern const char* const GPT2_PATTERN;

/// Cuts a text at the matches of a pattern: a match is a word, and so is what lies between two of them.
struct Split {
    Pattern pattern;
    bool drop_between = false;  // only matches are words
};

/// For vocabularies without a pattern of their own: words begin with spaces, and with line ends if these are tokens by
/// themselves. None if one of the tokens reaches from another character to a space, or spaces are none: then words are
/// not independent.
std::vector<Split> splits_before_spaces(std::span<const std::string> tokens);

/// Cuts texts into words by several splits, each of which cuts the words of the one before it. A thread needs one of
/// its own.
class PreTokenizer {
public:
    explicit PreTokenizer(const std::vector<Split>& splits);

    /// Calls word(std::string_view) for each word of the text, in order. With `more`, text of which more follows: only
    /// for those that nothing can change any more. Returns how many bytes these take; the rest has to come again.
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
            // A match that is not whole may come to nothing, and what lies before it go on. That much of it can be cut
            // already, and later the rest as if it began here, holds because patterns do not look behind.
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
