#include "models/tokenizers/bpe/byte_level.h"

#include <algorithm>
#include <numeric>

#include "base/text/utf8.h"

namespace vkf {

const std::array<char32_t, 256>& byte_characters() {
    static const auto characters = [] {
        std::array<char32_t, 256> table;
        char32_t next = 0x100;
        for (char32_t byte = 0; byte < 256; ++byte) {
            const bool printable =
                (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
            table[byte] = printable ? byte : next++;
        }
        return table;
    }();
    return characters;
}

std::array<unsigned char, 256> bytes_in_character_order() {
    std::array<unsigned char, 256> bytes;
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
    std::ranges::sort(bytes, {}, [](unsigned char byte) { return byte_characters()[byte]; });
    return bytes;
}

std::string spell_bytes(std::string_view bytes) {
    std::string characters;
    for (const char byte : bytes) append_utf8(characters, byte_characters()[static_cast<unsigned char>(byte)]);
    return characters;
}

std::optional<std::string> read_bytes(std::string_view characters) {
    static const auto byte_of = [] {
        std::array<int, 0x100 + 256> table;
        table.fill(-1);
        for (std::size_t byte = 0; byte < 256; ++byte) table[byte_characters()[byte]] = static_cast<int>(byte);
        return table;
    }();
    std::string bytes;
    for (std::size_t at = 0; at < characters.size();) {
        const CodePoint character = decode_utf8(characters, at);
        if (character.bytes == 0 || character.value >= byte_of.size() || byte_of[character.value] < 0) return {};
        bytes += static_cast<char>(byte_of[character.value]);
        at += character.bytes;
    }
    return bytes;
}

}  // namespace vkf
