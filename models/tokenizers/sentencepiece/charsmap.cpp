#include "models/tokenizers/sentencepiece/charsmap.h"

#include <algorithm>

#include "base/error.h"
#include "base/text/utf8.h"

namespace vkf {
namespace {

constexpr std::size_t UNIT = sizeof(std::uint32_t);

std::uint32_t unit_at(std::string_view bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < UNIT; ++i) value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << 8 * i;
    return value;
}

/// A node of the trie.
struct TrieUnit {
    std::uint32_t bits;

    std::uint32_t label() const { return bits & 0x8000'00ffU; }
    std::uint32_t offset() const { return bits >> 10 << ((bits & 0x200U) != 0 ? 8 : 0); }
    bool ends_rule() const { return (bits & 0x100U) != 0; }
    std::uint32_t value() const { return bits & 0x7fff'ffffU; }
};

}  // namespace

Charsmap::Charsmap(std::string_view bytes, const std::string& where) {
    const std::size_t size = bytes.size() < UNIT ? 0 : unit_at(bytes, 0);
    require(size >= UNIT && size % UNIT == 0 && size + UNIT < bytes.size(), where, ": has ", bytes.size(),
            " bytes, of which ", size, " are its trie, wanted units of 4 bytes and replacements behind them");
    for (std::size_t at = UNIT; at < UNIT + size; at += UNIT) units_.push_back(unit_at(bytes, at));
    replacements_ = bytes.substr(UNIT + size);
    require(replacements_.back() == '\0', where, ": its last replacement has no end");
    const auto wrong = invalid_utf8(replacements_);
    require(!wrong, where, ": its replacements are not UTF-8 at byte ", wrong.value_or(0));
    for (std::size_t begin = 0; begin < replacements_.size();) {
        const std::size_t length = replacements_.find('\0', begin) - begin;
        require(length <= LONGEST, where, ": a replacement has ", length, " bytes, wanted at most ", LONGEST);
        begin += length + 1;
    }
}

Charsmap::Match Charsmap::longest_match(std::string_view text) const {
    Match longest;
    if (units_.empty()) return longest;
    std::uint32_t children = TrieUnit{units_.front()}.offset();
    for (std::size_t i = 0; i < std::min(text.size(), LONGEST); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const std::uint32_t place = children ^ byte;
        if (place >= units_.size()) break;
        const TrieUnit unit{units_[place]};
        if (unit.label() != byte) break;
        children = place ^ unit.offset();
        if (!unit.ends_rule() || children >= units_.size()) continue;
        const std::size_t begin = TrieUnit{units_[children]}.value();
        if (begin < replacements_.size()) longest = {i + 1, replacements_.c_str() + begin};
    }
    return longest;
}

}  // namespace vkf
