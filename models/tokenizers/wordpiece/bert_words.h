// BERT's words (Devlin et al. 2019): texts are normalized, and cut at spaces and around every sign.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace vkf {

/// Changes to a text, with the names of Hugging Face's BertNormalizer.
struct BertNormalizer {
    bool clean_text = true;            // leaves out zero bytes, U+FFFD and characters of the categories Cc, Cf and Co
    bool handle_chinese_chars = true;  // makes every Han character a word
    bool strip_accents = true;         // decomposes characters (NFD) and leaves out those of the category Mn
    bool lowercase = true;             // lower case of every character, regardless of its neighbours

    bool operator==(const BertNormalizer&) const = default;
};

/// Cuts a text, fed in portions of whole characters, into words. Spaces divide words and are dropped; a punctuation
/// mark (category P, and every sign of ASCII) is a word. Categories are those of utf8proc's version of Unicode.
/// Characters are decomposed one by one: marks that are not accents keep their order.
class BertWords {
public:
    using Word = std::function<void(std::string_view)>;

    explicit BertWords(const BertNormalizer& normalizer) : normalizer_(normalizer) {}

    /// Calls `word` for the words that can no longer change, in order.
    void feed(std::string_view text, const Word& word);
    /// Calls `word` for the last word; the next text may follow.
    void finish(const Word& word);

private:
    void take(char32_t character, const Word& word);
    void alone(char32_t character, const Word& word);

    BertNormalizer normalizer_;
    std::string pending_;  // a word that may continue
};

}  // namespace vkf
