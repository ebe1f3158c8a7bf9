// The tokens of words that came before: most words of a text do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace vkf {

/// Keeps short words with few tokens, as many as there are places. A new word takes the place of an older one that has
/// the same two places to choose from, so that neither memory nor time grows with the text.
class WordCache {
public:
    /// The tokens of a word, or nothing: an empty list.
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
        std::array<Entry, 2>& both = places_[place(word)];
        both[1] = both[0];
        both[0].size = static_cast<std::uint8_t>(word.size());
        both[0].count = static_cast<std::uint8_t>(tokens.size());
        std::memcpy(both[0].word, word.data(), word.size());
        std::memcpy(both[0].tokens, tokens.data(), tokens.size_bytes());
    }

private:
    static constexpr std::size_t WIDTH = 30, MOST = 8, PLACES = 1 << 14;
    struct alignas(64) Entry {  // one line of a processor's cache
        std::int32_t tokens[MOST];
        std::uint8_t size = 0, count = 0;
        char word[WIDTH];
    };

    static std::size_t place(std::string_view word) {
        std::uint64_t hash = word.size();
        for (std::size_t at = 0; at < word.size(); at += 8) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, word.data() + at, std::min<std::size_t>(8, word.size() - at));
            hash = (hash ^ eight) * 0x9e3779b97f4a7c15;
            hash ^= hash >> 32;
        }
        return hash % PLACES;
    }

    std::vector<std::array<Entry, 2>> places_ = std::vector<std::array<Entry, 2>>(PLACES);
};

}  // namespace vkf
