// Rules by which a SentencePiece model rewrites texts, such as those of NFKC: its "precompiled_charsmap".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vkf {

/// Rules that replace byte sequences of a text by others. All numbers of the stored form are little-endian:
///
///     u32             size of the trie in bytes
///     u32 × n         units of the trie, a double array as the library darts-clone stores it
///     bytes           replacements, each of which ends with a zero byte
///
/// A unit u has a label (bits 0-7, and bit 31, which no byte has), the mark of a rule's end (bit 8) and an offset (bits
/// 10-30, shifted left by 8 more if bit 9 is set). The children of the node at place p are around c = p ^ offset(u_p):
/// byte b leads to place c ^ b if the label there is b. If a node is marked, bits 0-30 of unit c are the place of the
/// replacement.
class Charsmap {
public:
    /// Greatest size of a rule's text and of its replacement, which bounds the time and memory of a lookup.
    static constexpr std::size_t LONGEST = 1024;

    /// No rules.
    Charsmap() = default;
    /// Reads the stored form. Throws: InputError beginning with `where` if sizes contradict each other, or replacements
    /// are not UTF-8, do not end, or have more than LONGEST bytes.
    Charsmap(std::string_view bytes, const std::string& where);

    struct Match {
        std::size_t bytes = 0;              // of the text; 0: no rule
        std::string_view replacement = {};  // may be empty
    };
    /// The longest rule with which a text begins. Units and replacements outside of the stored ones are none.
    Match longest_match(std::string_view text) const;

private:
    std::vector<std::uint32_t> units_;
    std::string replacements_;
};

}  // namespace vkf
