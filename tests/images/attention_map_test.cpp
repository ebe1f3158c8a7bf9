#include "models/images/drawing/attention_map.h"

#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "models/images/drawing/drawing.h"

namespace vkf::test {
namespace {

TEST(HostAttentionMap, AnOverlayIsLightestWhereTheMapIsGreatest) {
    const Image grey(16, 16, {128, 128, 128});
    const Image made = overlay(grey, std::array{0.1, 0.2, 0.9, 0.3});
    EXPECT_EQ(made.width(), 16);
    const auto light = [&](int x, int y) { return lightness(made.at(x, y)); };
    for (const auto& [x, y] : {std::pair{1, 1}, {14, 1}, {14, 14}}) EXPECT_LT(light(x, y) + 10, light(1, 14));
    EXPECT_LT(light(1, 1), light(14, 14));
    const Image even = overlay(grey, std::array{0.5, 0.5, 0.5, 0.5});
    EXPECT_EQ(even.at(0, 0)[0], even.at(15, 15)[0]);
    EXPECT_THROW(overlay(grey, std::array{1.0, 2.0}), InputError);
    EXPECT_THROW(overlay(grey, std::span<const double>()), InputError);
}

}  // namespace
}  // namespace vkf::test
