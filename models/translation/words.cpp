#include "models/translation/words.h"

#include <array>
#include <cstddef>
#include <utility>

#include "base/text/utf8.h"

namespace vkf {

namespace {

/// True for the characters at which Python's str.split() divides.
bool is_whitespace(char32_t c) {
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// ASCII symbols that always stand alone: all but the apostrophe, comma, dash and period.
bool is_symbol(char c) {
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
           (c >= ':' && c <= '@') || c == '/';
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
        text.replace(at, from.size(), to);
}

/// Replaces pairs of neighbours for which `matches` holds, from left to right and without overlap, by
/// `before` first `between` second `after`. Bytes do as well as characters, because the rules ask only for ASCII.
template <typename Matches>
std::string space_pairs(const std::string& text, const Matches& matches, std::string_view before,
                        std::string_view between, std::string_view after) {
    std::string made;
    made.reserve(text.size() * 2);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i + 1 < text.size() && matches(text[i], text[i + 1])) {
            made.append(before).append(1, text[i]).append(between).append(1, text[i + 1]).append(after);
            ++i;
        } else {
            made += text[i];
        }
    }
    return made;
}

bool is_point(char c) {
    return c == '.' || c == ',';
}

}  // namespace

std::vector<std::string> split_at_whitespace(std::string_view text) {
    std::vector<std::string> words;
    std::size_t begin = 0;
    const auto end_word = [&](std::size_t end) {
        if (end > begin) words.emplace_back(text.substr(begin, end - begin));
    };
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint here = decode_utf8(text, at);
        const std::size_t bytes = here.bytes == 0 ? 1 : here.bytes;
        if (is_whitespace(here.value) && here.bytes != 0) {
            end_word(at);
            begin = at + bytes;
        }
        at += bytes;
    }
    end_word(text.size());
    return words;
}

std::vector<std::string> words_13a(std::string_view line) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> replaced{
        {{"<skipped>", ""}, {"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}}};
    std::string text(line);
    for (const auto& [from, to] : replaced) replace_all(text, from, to);
    std::string spaced = " ";
    for (const char c : text) {
        if (is_symbol(c))
            spaced.append(1, ' ').append(1, c).append(1, ' ');
        else
            spaced += c;
    }
    spaced += ' ';
    spaced = space_pairs(
        spaced, [](char a, char b) { return !is_digit(a) && is_point(b); }, "", " ", " ");
    spaced = space_pairs(
        spaced, [](char a, char b) { return is_point(a) && !is_digit(b); }, " ", " ", "");
    spaced = space_pairs(
        spaced, [](char a, char b) { return is_digit(a) && b == '-'; }, "", " ", " ");
    return split_at_whitespace(spaced);
}

}  // namespace vkf
