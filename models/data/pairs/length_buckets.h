// Buckets of lengths: sentences of similar length are padded to a common one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vkf {

/// Upper bounds of at most `most` buckets, ascending, so that padding every length to the least bound that it does not
/// exceed adds as little as possible. The last bound is the greatest length. Lengths are at least 1.
std::vector<std::int64_t> bucket_bounds(std::span<const std::int64_t> lengths, std::size_t most);

}  // namespace vkf
