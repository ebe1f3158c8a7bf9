#include "base/text/plain_text.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "base/files/os_file.h"
#include "base/os/os.h"
#include "base/text/utf8.h"

namespace vkf {

namespace {

constexpr std::string_view REPLACEMENT = "\xef\xbf\xbd";  // U+FFFD

bool continues(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// Appends the character or byte at `at` as it may be shown; returns the position of the next one.
std::size_t append_plain(std::string& plain, std::string_view text, std::size_t at) {
    const auto [value, bytes] = decode_utf8(text, at);
    if (bytes == 0 || steers_terminals(value))
        plain += REPLACEMENT;
    else
        plain += text.substr(at, bytes);
    return at + std::max<std::size_t>(1, bytes);
}

/// Beginning and end of a text that is longer than `most` bytes, cut between characters.
std::string shortened(std::string_view text, std::size_t most) {
    std::size_t head = most - most / 4, tail = text.size() - most / 4;
    while (head > 0 && continues(text[head])) --head;
    while (tail < text.size() && continues(text[tail])) ++tail;
    return vkf::text(text.substr(0, head), "… (", tail - head, " more) …", text.substr(tail));
}

}  // namespace

std::string plain_text(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '\n' || text[at] == '\t')
            plain += text[at++];
        else
            at = append_plain(plain, text, at);
    }
    return plain;
}

std::string plain_line(std::string_view text, std::size_t most) {
    std::string plain = plain_text(text);
    std::ranges::replace_if(
        plain, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return plain.size() <= most ? plain : shortened(plain, most);
}

void tell(std::string_view text) {
    const std::string line = plain_line(text) + '\n';
    os::write(os::STANDARD_ERROR, std::as_bytes(std::span(line)));  // a failure cannot be reported
}

}  // namespace vkf
