#include "models/data/text/token_stream.h"

#include <algorithm>
#include <utility>

namespace vkf {
namespace {

std::vector<std::size_t> sizes_of(const std::vector<TokenSpan>& shards) {
    std::vector<std::size_t> sizes;
    for (const TokenSpan& shard : shards) sizes.push_back(shard.size());
    return sizes;
}

}  // namespace

Segments::Segments(const std::vector<std::size_t>& lengths) {
    for (const std::size_t length : lengths) ends_.push_back(total() + length);
}

Segments::Place Segments::find(std::size_t i) const {
    const auto segment = static_cast<std::size_t>(std::ranges::upper_bound(ends_, i) - ends_.begin());
    return {segment, i - begin(segment)};
}

TokenStream::TokenStream(std::vector<TokenSpan> shards) : shards_(std::move(shards)), segments_(sizes_of(shards_)) {}

std::uint32_t TokenStream::operator[](std::size_t i) const {
    const auto [shard, offset] = segments_.find(i);
    return shards_[shard][offset];
}

TokenSpan TokenStream::window(std::size_t first, std::size_t count) const {
    const auto [shard, offset] = segments_.find(first);
    return shards_[shard].subspan(offset, count);
}

bool operator==(const TokenStream& a, const TokenStream& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i]) return false;
    return true;
}

}  // namespace vkf
