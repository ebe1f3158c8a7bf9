// Tokens that continue from shard to shard.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/data/text/tokens.h"

namespace vkf {

/// Consecutive segments of given lengths; some may be empty.
class Segments {
public:
    struct Place {
        std::size_t segment, offset;
    };

    Segments() = default;
    explicit Segments(const std::vector<std::size_t>& lengths);

    std::size_t total() const { return ends_.empty() ? 0 : ends_.back(); }
    std::size_t begin(std::size_t segment) const { return segment == 0 ? 0 : ends_[segment - 1]; }
    /// Segment and offset of element i; i < total().
    Place find(std::size_t i) const;

private:
    std::vector<std::size_t> ends_;
};

/// The tokens of one or more shards as one sequence; the owner of the tokens must outlive it.
class TokenStream {
public:
    TokenStream() = default;
    template <std::convertible_to<TokenSpan> Tokens>
    TokenStream(const Tokens& tokens) : TokenStream(std::vector<TokenSpan>{tokens}) {}
    explicit TokenStream(std::vector<TokenSpan> shards);

    const std::vector<TokenSpan>& shards() const { return shards_; }
    std::size_t size() const { return segments_.total(); }
    /// First token of a shard, counted from the beginning of the first shard.
    std::size_t begin(std::size_t shard) const { return segments_.begin(shard); }
    std::uint32_t operator[](std::size_t i) const;
    /// The `count` tokens from number `first` on; the shard of the first token must have as many.
    TokenSpan window(std::size_t first, std::size_t count) const;

    /// True if both have the same tokens, in any shards.
    friend bool operator==(const TokenStream& a, const TokenStream& b);

private:
    std::vector<TokenSpan> shards_;
    Segments segments_;
};

}  // namespace vkf
