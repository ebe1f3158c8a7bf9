// UTF-8 read strictly: no overlong forms, no surrogates, nothing past U+10FFFF.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace vkf {

/// One character and its number of bytes; 0 bytes if the text is not UTF-8 at this place.
struct CodePoint {
    char32_t value = 0;
    std::size_t bytes = 0;
};

/// The character that starts at byte `at`, which must lie inside the text.
constexpr CodePoint decode_utf8(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const unsigned first = byte(0);
    if (first < 0x80) return {first, 1};
    const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() - at < bytes) return {};
    char32_t value = first & (0x7fu >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0u) != 0x80u) return {};
        value = value << 6 | (byte(i) & 0x3fu);
    }
    const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
    const bool surrogate = value >= 0xd800 && value < 0xe000;
    if (overlong || surrogate || value > 0x10ffff) return {};
    return {value, bytes};
}

/// Position of the first byte that is not part of a character; nothing if the whole text is UTF-8.
constexpr std::optional<std::size_t> invalid_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = decode_utf8(text, at).bytes;
        if (bytes == 0) return at;
        at += bytes;
    }
    return std::nullopt;
}

/// Appends a valid code point.
constexpr void append_utf8(std::string& text, char32_t value) {
    const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte & 0xff)); };
    if (value < 0x80) {
        put(value);
    } else if (value < 0x800) {
        put(0xc0 | value >> 6);
        put(0x80 | (value & 0x3f));
    } else if (value < 0x10000) {
        put(0xe0 | value >> 12);
        put(0x80 | (value >> 6 & 0x3f));
        put(0x80 | (value & 0x3f));
    } else {
        put(0xf0 | value >> 18);
        put(0x80 | (value >> 12 & 0x3f));
        put(0x80 | (value >> 6 & 0x3f));
        put(0x80 | (value & 0x3f));
    }
}

}  // namespace vkf
