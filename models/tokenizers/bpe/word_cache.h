// Cache of the tokens of earlier words; most words of a text are repeated.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace vkf {

/// Keeps short words with few tokens, in at most 8 MiB: it begins small and grows with the words. At full size a new
/// word replaces an older one that has the same two places to choose from, so neither memory nor time grows with the
/// text.
class WordCache {
public:
    /// Tokens of a word; an empty list if it is not kept.
    std::span<const std::int32_t> find(std::string_view word) {
        if (word.size() > WIDTH) return {};
        std::array<Entry, 2>& both = places_[place(word)];
        for (const Entry& entry : both) {
            if (entry.size == word.size() && std::memcmp(entry.word, word.data(), word.size()) == 0) {
                return {entry.tokens, entry.count};
            }
        }
        return {};
    }

    /// Keeps a word that is not kept yet.
    void insert(std::string_view word, std::span<const std::int32_t> tokens) {
        if (word.empty() || word.size() > WIDTH || tokens.size() > MOST) return;
        if (++inserted_ > places_.size() && places_.size() < PLACES) grow();
        Entry entry;
        entry.size = static_cast<std::uint8_t>(word.size());
        entry.count = static_cast<std::uint8_t>(tokens.size());
        std::memcpy(entry.word, word.data(), word.size());
        std::memcpy(entry.tokens, tokens.data(), tokens.size_bytes());
        put(entry);
    }

private:
    static constexpr std::size_t WIDTH = 30, MOST = 8, PLACES = 1 << 16;
    struct alignas(64) Entry {  // one line of a processor's cache
        std::int32_t tokens[MOST];
        std::uint8_t size = 0, count = 0;
        char word[WIDTH];
    };

    void put(const Entry& entry) {
        std::array<Entry, 2>& both = places_[place({entry.word, entry.size})];
        both[1] = both[0];
        both[0] = entry;
    }

    void grow() {
        const auto old = std::exchange(places_, std::vector<std::array<Entry, 2>>(4 * places_.size()));
        for (const auto& [newer, older] : old) {
            if (older.size > 0) put(older);
            if (newer.size > 0) put(newer);
        }
    }

    std::size_t place(std::string_view word) const {
        std::uint64_t hash = word.size();
        for (std::size_t at = 0; at < word.size(); at += 8) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, word.data() + at, std::min<std::size_t>(8, word.size() - at));
            hash = (hash ^ eight) * 0x9e3779b97f4a7c15;
            hash ^= hash >> 32;
        }
        return hash & (places_.size() - 1);
    }

    std::vector<std::array<Entry, 2>> places_ = std::vector<std::array<Entry, 2>>(1 << 8);
    std::size_t inserted_ = 0;
};

}  // namespace vkf
