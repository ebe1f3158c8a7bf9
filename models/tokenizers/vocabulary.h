// The bytes of every token, and the token of given bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace vkf {

inline constexpr std::string_view SPACE_MARK = "\u2581";  // SentencePiece's sign for a space

class Vocabulary {
public:
    /// The tokens by number. If several have the same bytes, the first is found by them; tokens in `hidden` are not
    /// found.
    explicit Vocabulary(std::vector<std::string> tokens, std::span<const std::int32_t> hidden = {})
        : tokens_(std::move(tokens)) {
        std::vector<bool> found(tokens_.size(), true);
        for (const std::int32_t token : hidden) found[static_cast<std::size_t>(token)] = false;
        token_of_.reserve(tokens_.size());
        for (std::size_t token = 0; token < tokens_.size(); ++token) {
            if (found[token]) token_of_.try_emplace(tokens_[token], static_cast<std::int32_t>(token));
        }
    }
    Vocabulary(const Vocabulary&) = delete;  // the keys point into the tokens
    Vocabulary& operator=(const Vocabulary&) = delete;

    std::size_t size() const { return tokens_.size(); }
    const std::string& operator[](std::size_t token) const { return tokens_[token]; }

    std::optional<std::int32_t> find(std::string_view bytes) const {
        const auto found = token_of_.find(bytes);
        return found == token_of_.end() ? std::nullopt : std::optional(found->second);
    }

private:
    std::vector<std::string> tokens_;
    std::unordered_map<std::string_view, std::int32_t> token_of_;
};

}  // namespace vkf
