// Grey values of images, as sequences of words.

#include "models/data/sequences/grey_pixels.h"

#include <gtest/gtest.h>

namespace vkf::test {
namespace {

TEST(HostGreyPixels, AreRoundedAsTensorFlowRounds) {
    EXPECT_EQ(grey_of(0, 0, 0), 0);
    EXPECT_EQ(grey_of(255, 255, 255), 255);  // 0.9999 · 255.5 = 255.47
    EXPECT_EQ(grey_of(255, 0, 0), 76);       // 0.2989 · 255.5 = 76.37
    EXPECT_EQ(grey_of(0, 255, 0), 149);      // 149.98
    EXPECT_EQ(grey_of(0, 0, 255), 29);       // 29.13
    EXPECT_EQ(grey_of(1, 1, 1), 1);          // 1.0018
    EXPECT_EQ(grey_of(10, 200, 30), 124);    // 124.02
}

TEST(HostGreyPixels, AreWordsFromTheTopLeft) {
    const Picture picture{.width = 2, .height = 2, .rgb = {0, 0, 0, 255, 255, 255, 0, 255, 0, 1, 1, 1}};
    EXPECT_EQ(grey_sequence(picture), "0 255 149 1");
}

}  // namespace
}  // namespace vkf::test
