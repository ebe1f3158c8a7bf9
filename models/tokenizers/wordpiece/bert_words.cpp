#include "models/tokenizers/wordpiece/bert_words.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/text/utf8.h"

namespace vkf {
namespace {

// The longest canonical decomposition has four characters.
constexpr std::size_t MOST_PARTS = 8;

utf8proc_category_t category_of(char32_t character) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(character));
}

bool is_left_out(char32_t character) {
    if (character == '\t' || character == '\n' || character == '\r') return false;
    const auto category = category_of(character);
    return character == 0 || character == U'\ufffd' || category == UTF8PROC_CATEGORY_CC ||
           category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_CO;
}

// Unicode's White_Space.
bool is_space(char32_t character) {
    const auto category = category_of(character);
    return (character >= '\t' && character <= '\r') || character == U'\u0085' || category == UTF8PROC_CATEGORY_ZS ||
           category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

bool is_punctuation(char32_t character) {
    if (character < 0x80) {
        const auto is_between = [&](char first, char last) {
            return character >= static_cast<char32_t>(first) && character <= static_cast<char32_t>(last);
        };
        return is_between('!', '/') || is_between(':', '@') || is_between('[', '`') || is_between('{', '~');
    }
    const auto category = category_of(character);
    return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

// Ranges of BERT's own list.
bool is_han(char32_t character) {
    constexpr std::pair<char32_t, char32_t> RANGES[] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},
                                                        {0x20000, 0x2a6df}, {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f},
                                                        {0x2b820, 0x2ceaf}, {0x2f800, 0x2fa1f}};
    return std::ranges::any_of(
        RANGES, [&](const auto& range) { return character >= range.first && character <= range.second; });
}

// Characters of the canonical decomposition (NFD).
std::span<const utf8proc_int32_t> decomposed(char32_t character, std::span<utf8proc_int32_t, MOST_PARTS> memory) {
    int boundary = 0;  // for grapheme clusters, which are not asked for
    const auto count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(character), memory.data(),
                                static_cast<utf8proc_ssize_t>(memory.size()), UTF8PROC_DECOMPOSE, &boundary);
    return memory.first(static_cast<std::size_t>(std::clamp<utf8proc_ssize_t>(count, 0, MOST_PARTS)));
}

}  // namespace

void BertWords::finish(const Word& word) {
    if (!pending_.empty()) word(pending_);
    pending_.clear();
}

void BertWords::alone(char32_t character, const Word& word) {
    finish(word);
    append_utf8(pending_, character);
    finish(word);
}

void BertWords::take(char32_t character, const Word& word) {
    if (is_space(character)) return finish(word);
    if (is_punctuation(character)) return alone(character, word);
    if (!normalizer_.lowercase) return append_utf8(pending_, character);
    append_utf8(pending_, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(character))));
    // The only character whose lower case is two characters.
    if (character == U'\u0130') append_utf8(pending_, U'\u0307');
}

void BertWords::feed(std::string_view text, const Word& word) {
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint character = decode_utf8(text, at);
        at += character.bytes;
        if (normalizer_.clean_text && is_left_out(character.value)) continue;
        std::array<utf8proc_int32_t, MOST_PARTS> memory{static_cast<utf8proc_int32_t>(character.value)};
        std::span<const utf8proc_int32_t> parts = std::span(memory).first(1);
        if (normalizer_.strip_accents) parts = decomposed(character.value, memory);
        const bool han = normalizer_.handle_chinese_chars && is_han(character.value);
        if (han) finish(word);
        for (const utf8proc_int32_t part : parts) {
            const auto one = static_cast<char32_t>(part);
            if (normalizer_.strip_accents && category_of(one) == UTF8PROC_CATEGORY_MN) continue;
            take(one, word);
        }
        if (han) finish(word);
    }
}

}  // namespace vkf
