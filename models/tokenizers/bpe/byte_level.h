// Spelling of bytes in GPT-2's files: one visible character per byte.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace vkf {

/// The character of each byte: printable Latin-1 as itself, the others U+0100, U+0101, … in order.
const std::array<char32_t, 256>& byte_characters();

/// The bytes in the order of their characters, which is that of GPT-2's first 256 tokens: printable ones first.
std::array<unsigned char, 256> bytes_in_character_order();

/// The characters of bytes.
std::string spell_bytes(std::string_view bytes);

/// The bytes that characters spell, or nothing if one of them spells none.
std::optional<std::string> read_bytes(std::string_view characters);

}  // namespace vkf
