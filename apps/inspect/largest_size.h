// Search for the largest size that fits into memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace vkf {

/// Memory that a size takes.
struct Demand {
    std::int64_t bytes = 0;
    std::string refusal = {};  // reason, other than memory, for which the size is impossible; bytes mean nothing then
};

struct LargestSize {
    std::int64_t size = 0;         // 0: not even 1 fits
    std::int64_t bytes = 0;        // that the size takes
    Demand next = {};              // of size + 1, which does not fit
    std::int64_t evaluations = 0;  // calls of the demand
};

/// Finds a size n from 1 to `most` that fits into `room` bytes and whose successor does not fit, or is more than
/// `most`. The demand need not grow evenly, but it is assumed that sizes beyond the successor do not fit either. The
/// search follows the line through two known demands, and bisects every second time, so it ends after at most
/// 3·log2(most) evaluations.
LargestSize largest_size(const std::function<Demand(std::int64_t size)>& demand, std::int64_t room, std::int64_t most);

}  // namespace vkf
