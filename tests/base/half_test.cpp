#include "base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace vkf {
namespace {

// Checks every pair of finite neighbours: each converts back, and numbers between them round to nearest, ties to even.
template <auto From, auto To>
void expect_nearest(std::uint32_t infinity) {
    for (std::uint32_t bits = 0; bits < infinity; ++bits) {
        const auto lower = static_cast<std::uint16_t>(bits);
        const auto upper = static_cast<std::uint16_t>(bits + 1);
        const float below = From(lower);
        EXPECT_EQ(To(below), lower);
        EXPECT_EQ(To(-below), lower | 0x8000);
        if (upper == infinity) break;
        ASSERT_LT(below, From(upper));
        const auto middle = static_cast<float>((double{below} + double{From(upper)}) / 2);
        EXPECT_EQ(To(middle), bits % 2 == 0 ? lower : upper) << bits;
        EXPECT_EQ(To(std::nextafter(middle, 0.0f)), lower) << bits;
        EXPECT_EQ(To(std::nextafter(middle, std::numeric_limits<float>::max())), upper) << bits;
    }
    const float endless = std::numeric_limits<float>::infinity();
    EXPECT_EQ(From(static_cast<std::uint16_t>(infinity)), endless);
    EXPECT_EQ(To(endless), infinity);
    EXPECT_EQ(To(std::numeric_limits<float>::max()), infinity);
    EXPECT_TRUE(std::isnan(From(To(std::numeric_limits<float>::quiet_NaN()))));
    EXPECT_TRUE(std::isnan(From(static_cast<std::uint16_t>(infinity + 1))));
}

TEST(HostHalf, HalfRoundsToNearestEven) {
    expect_nearest<from_half, to_half>(0x7c00);
    EXPECT_EQ(from_half(0x3c00), 1.0f);
    EXPECT_EQ(from_half(0x0001), 0x1p-24f);
    EXPECT_EQ(to_half(65519.0f), 0x7bff);  // 65504 is the largest number
    EXPECT_EQ(to_half(65520.0f), 0x7c00);
}

TEST(HostHalf, Bfloat16RoundsToNearestEven) {
    expect_nearest<from_bfloat16, to_bfloat16>(0x7f80);
    EXPECT_EQ(from_bfloat16(0x3f80), 1.0f);
}

}  // namespace
}  // namespace vkf
