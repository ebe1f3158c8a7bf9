// Text from other sources, made safe for a terminal: names in files, messages that quote them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vkf {

/// True if a terminal may interpret the character instead of showing it: control characters of both sets (C0 and DEL,
/// C1), marks that change the direction of text, separators of lines and paragraphs.
constexpr bool steers_terminals(char32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/// The text with U+FFFD in place of each character that steers terminals and each byte that is not UTF-8. Line ends and
/// tabs stay.
std::string plain_text(std::string_view text);

/// plain_text() as one line, with spaces for line ends and tabs. A line longer than `most` bytes is cut to its
/// beginning and end, with "… (N more) …" between them; N counts bytes.
std::string plain_line(std::string_view text, std::size_t most = 2000);

/// Writes the text to standard error as a plain line. Every message is written by this function.
void tell(std::string_view text);

}  // namespace vkf
