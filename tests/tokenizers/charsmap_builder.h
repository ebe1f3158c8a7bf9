// Shared by tests of SentencePiece's rules: the stored form of rules, made in the plainest way.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace vkf::test {

inline void append_u32(std::string& bytes, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> 8 * i & 0xffU);
}

/// The charsmap of rules from texts to replacements. Every node of its trie has 256 units for its children, so that no
/// two share a place.
inline std::string charsmap_of(const std::map<std::string, std::string>& rules) {
    std::vector<std::uint32_t> units(512);
    std::map<std::string, std::uint32_t> children{{"", 256}};  // first unit of a node's children, by its text
    units[0] = 256U << 10;
    std::string replacements;
    for (const auto& [text, replacement] : rules) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            const std::uint32_t place = children.at(text.substr(0, i)) + static_cast<unsigned char>(text[i]);
            const auto [node, fresh] =
                children.emplace(text.substr(0, i + 1), static_cast<std::uint32_t>(units.size()));
            if (!fresh) continue;
            units[place] = static_cast<unsigned char>(text[i]) | (place ^ node->second) << 10;
            units.resize(units.size() + 256);
        }
        const std::string parent = text.substr(0, text.size() - 1);
        units[children.at(parent) + static_cast<unsigned char>(text.back())] |= 0x100U;
        units[children.at(text)] = static_cast<std::uint32_t>(replacements.size()) | 0x8000'0000U;
        replacements += replacement + '\0';
    }
    std::string bytes;
    append_u32(bytes, static_cast<std::uint32_t>(4 * units.size()));
    for (const std::uint32_t unit : units) append_u32(bytes, unit);
    return bytes + replacements;
}

}  // namespace vkf::test
