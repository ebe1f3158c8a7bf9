// Limits for what was drawn at random: five standard deviations of the expected distribution.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
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

}  // namespace vkf::test
