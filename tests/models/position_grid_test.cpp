#include "models/families/position_grid.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace vkf::test {
namespace {

/// A table with a first row and two channels, of which the second is −2 times the first plus 1.
std::vector<float> table_of(std::span<const double> first_channel) {
    std::vector<float> table{100, -200};
    for (const double x : first_channel) {
        table.push_back(static_cast<float>(x));
        table.push_back(static_cast<float>(1 - 2 * x));
    }
    return table;
}

// torch.nn.functional.interpolate(x, size=(side, side), mode="bicubic", align_corners=False) in float64, of n·n numbers
// x_i = (7i² + 3i) mod 11 − 4.
TEST(HostPositionGrid, EqualPyTorchsBicubicInterpolation) {
    struct Case {
        int n, side;
        std::vector<double> wanted;
    };
    const std::vector<Case> cases{
        {3, 5, {-5.655808, 0.498432, 6.672,    1.445088,  -4.138944, -2.1616,  0.750032, 3.428,     0.027728,
                -3.318976, 2.288,    0.836,    -1.0,      -1.216,    -1.0,     2.92736,  -0.013312, -2.728,
                0.667952,  4.018976, 2.498432, -0.724704, -3.192,    2.470944, 7.618944}},
        {5, 2, {3.122573853, 4.832092285, -0.829208374, 0.125335693}},
        {2,
         3,
         {-4.992537133, 1.130208333, 7.2529538, -4.151041667, 0.25, 4.651041667, -3.3095462, -0.630208333,
          2.049129533}},
        {4, 1, {-1.03125}},
        {3, 3, {-4, 6, -3, 2, -1, -1, 2, -3, 6}},
        {1, 2, {-4, -4, -4, -4}}};
    for (const auto& [n, side, wanted] : cases) {
        std::vector<double> x;
        for (int i = 0; i < n * n; ++i) x.push_back((7 * i * i + 3 * i) % 11 - 4);
        const std::vector<float> found = resized_positions(table_of(x), 2, side), table = table_of(wanted);
        ASSERT_EQ(found.size(), table.size());
        for (std::size_t i = 0; i < table.size(); ++i) EXPECT_NEAR(found[i], table[i], 2e-6) << n << " " << side;
    }
}

TEST(HostPositionGrid, RefusesTablesOfOtherGrids) {
    EXPECT_THROW(resized_positions(std::vector<float>(2 * 7), 2, 3), InputError);
    EXPECT_THROW(resized_positions(std::vector<float>(2), 2, 3), InputError);
    EXPECT_THROW(resized_positions(std::vector<float>(2 * 5), 2, 0), InputError);
}

}  // namespace
}  // namespace vkf::test
