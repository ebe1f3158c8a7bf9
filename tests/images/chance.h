// Limits for what was drawn at random: five standard deviations of the expected distribution.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string_view>

namespace vkf::test {

/// `count` of n draws had a property of this probability: np ± 5·√(np(1 - p)).
inline void expect_share(int count, int n, double probability, std::string_view what) {
    const double mean = n * probability, deviation = std::sqrt(mean * (1 - probability));
    EXPECT_LE(std::abs(count - mean), 5 * deviation)
        << what << ": " << count << " of " << n << ", wanted about " << mean;
}

/// Draws add up to `sum`; each has the mean and variance given: nm ± 5·√(nv).
inline void expect_mean(double sum, int n, double mean, double variance, std::string_view what) {
    EXPECT_LE(std::abs(sum - n * mean), 5 * std::sqrt(n * variance))
        << what << ": " << sum / n << ", wanted about " << mean;
}

/// Every cell of a table of counts, however many dimensions it is flattened from, is equally likely: Pearson's χ²,
/// whose mean is the number of cells less one and whose variance is twice that. Sees what the cells' own shares do not:
/// that two choices hang together.
template <class Counts>
void expect_even(const Counts& counts, std::string_view what) {
    double draws = 0, square = 0;
    for (const int count : counts) draws += count;
    const double mean = draws / static_cast<double>(std::size(counts));
    for (const int count : counts) square += (count - mean) * (count - mean) / mean;
    const double freedom = static_cast<double>(std::size(counts)) - 1;
    EXPECT_LE(std::abs(square - freedom), 5 * std::sqrt(2 * freedom))
        << what << ": χ² " << square << ", wanted about " << freedom;
}

}  // namespace vkf::test
