#include "base/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iomanip>
#include <limits>

namespace vkf::test {
namespace {

TEST(HostText, PrintsAsAStreamDoes) {
    EXPECT_EQ(text("a", 1, ' ', std::fixed, std::setprecision(2), 0.125), "a1 0.12");
}

TEST(HostText, NanHasNoSign) {
    for (const double sign : {1.0, -1.0}) {
        const double nan = std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
        EXPECT_EQ(text(nan, ' ', static_cast<float>(nan)), "nan nan");
        EXPECT_EQ(text(std::fixed, std::setprecision(1), nan), "nan");
    }
    EXPECT_EQ(text(-std::numeric_limits<float>::infinity()), "-inf");
}

}  // namespace
}  // namespace vkf::test
