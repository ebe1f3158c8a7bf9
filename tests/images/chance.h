// Limits for random draws: five standard deviations of the expected distribution.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string_view>

namespace vkf::test {

/// Checks the `count` of n draws that have a property of this probability: np ± 5·√(np(1 - p)).
inline void expect_share(int count, int n, double probability, std::string_view what) {
    const double mean = n * probability, deviation = std::sqrt(mean * (1 - probability));
    EXPECT_LE(std::abs(count - mean), 5 * deviation)
        << what << ": " << count << " of " << n << ", wanted about " << mean;
}

/// Checks the sum of n draws, each of this mean and variance: nm ± 5·√(nv).
inline void expect_mean(double sum, int n, double mean, double variance, std::string_view what) {
    EXPECT_LE(std::abs(sum - n * mean), 5 * std::sqrt(n * variance))
        << what << ": " << sum / n << ", wanted about " << mean;
}

/// Checks that all cells of a table of counts, flattened from any number of dimensions, are equally likely. Pearson's
/// χ² has the mean "cells - 1" and twice that as its variance. Unlike a check of each cell's share, it finds that two
/// choices depend on each other.
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
