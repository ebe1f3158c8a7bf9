#include "models/tokenizers/sentencepiece/text_normalizer.h"

#include <algorithm>
#include <utility>

#include "base/text/utf8.h"
#include "models/tokenizers/vocabulary.h"

namespace vkf {

TextNormalizer::TextNormalizer(Charsmap rules, const NormalizerSettings& settings, std::vector<std::string> symbols)
    : rules_(std::move(rules)), settings_(settings), symbols_(std::move(symbols)) {
    std::erase(symbols_, "");
    std::ranges::sort(symbols_);
}

/// Bytes of the longest symbol with which the text begins; 0: none. Symbols that begin as the text does are neighbours.
std::size_t TextNormalizer::longest_symbol(std::string_view text) const {
    std::size_t longest = 0;
    auto first = symbols_.begin(), last = symbols_.end();
    for (std::size_t i = 0; i < text.size() && first != last; ++i) {
        // A symbol that ends before byte i is the first of those that are left.
        while (first != last && first->size() == i) ++first;
        const auto byte = [i](const std::string& symbol) { return static_cast<unsigned char>(symbol[i]); };
        const auto equal = std::ranges::equal_range(first, last, static_cast<unsigned char>(text[i]), {}, byte);
        first = equal.begin(), last = equal.end();
        if (first != last && first->size() == i + 1) longest = i + 1;
    }
    return longest;
}

TextNormalizer::Part TextNormalizer::first_part(std::string_view text) const {
    if (const std::size_t bytes = longest_symbol(text); bytes > 0) return {bytes, text.substr(0, bytes)};
    if (const Charsmap::Match match = rules_.longest_match(text); match.bytes > 0)
        return {match.bytes, match.replacement};
    if (const CodePoint character = decode_utf8(text, 0); character.bytes > 0)
        return {character.bytes, text.substr(0, character.bytes)};
    return {1, "\ufffd"};
}

std::string TextNormalizer::operator()(std::string_view text) const {
    const bool single = settings_.remove_extra_whitespaces;
    while (single && !text.empty()) {
        const Part part = first_part(text);
        if (part.text != " ") break;
        text.remove_prefix(part.bytes);
    }
    std::string made;
    if (text.empty()) return made;
    const std::string_view space = settings_.escape_whitespaces ? SPACE_MARK : " ";
    if (settings_.add_dummy_prefix) made += space;
    bool after_space = single;
    while (!text.empty()) {
        Part part = first_part(text);
        text.remove_prefix(part.bytes);
        while (after_space && part.text.starts_with(' ')) part.text.remove_prefix(1);
        for (const char c : part.text) {
            if (c == ' ')
                made += space;
            else
                made += c;
        }
        if (!part.text.empty()) after_space = single && part.text.ends_with(' ');
    }
    while (single && made.ends_with(space)) made.resize(made.size() - space.size());
    return made;
}

}  // namespace vkf
