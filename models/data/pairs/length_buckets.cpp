#include "models/data/pairs/length_buckets.h"

#include <algorithm>
#include <limits>
#include <map>

namespace vkf {

std::vector<std::int64_t> bucket_bounds(std::span<const std::int64_t> lengths, std::size_t most) {
    std::map<std::int64_t, std::int64_t> counts;
    for (const std::int64_t length : lengths) ++counts[length];
    const std::size_t n = counts.size();
    std::vector<std::int64_t> values, below{0};  // distinct lengths; numbers of sentences with one of the first i
    for (const auto& [length, count] : counts) {
        values.push_back(length);
        below.push_back(below.back() + count);
    }
    // padded[i]: fewest padded tokens of sentences with one of the first i lengths, in as many buckets as rounds so
    // far; from[k][i]: where the last of k + 1 buckets begins.
    std::vector<std::int64_t> padded(n + 1, std::numeric_limits<std::int64_t>::max() / 2);
    padded[0] = 0;
    std::vector<std::vector<std::size_t>> from;
    for (std::size_t k = 0; k < std::min(most, n); ++k) {
        std::vector<std::int64_t> next = padded;
        from.emplace_back(n + 1);
        for (std::size_t end = 1; end <= n; ++end) {
            from[k][end] = end;  // no further bucket
            for (std::size_t begin = 0; begin < end; ++begin) {
                const std::int64_t sum = padded[begin] + (below[end] - below[begin]) * values[end - 1];
                if (sum >= next[end]) continue;
                next[end] = sum;
                from[k][end] = begin;
            }
        }
        padded = next;
    }
    std::vector<std::int64_t> bounds;
    std::size_t end = n;
    for (std::size_t k = from.size(); k-- > 0 && end > 0;) {
        if (from[k][end] == end) continue;
        bounds.push_back(values[end - 1]);
        end = from[k][end];
    }
    std::ranges::reverse(bounds);
    return bounds;
}

}  // namespace vkf
