// Random resized crops: their areas, aspects and places. tests/images/operations_test.cpp compares their bytes with
// PIL.
#include "models/images/augmentation/resized_crop.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/images/chance.h"

namespace vkf {
namespace {

using test::expect_mean;

bool same(const Box& a, const Box& b) {
    return a.left == b.left && a.top == b.top && a.width == b.width && a.height == b.height;
}

/// Sum, and the mean and variance that it should have.
struct Expectation {
    double weight = 0, sum = 0, squares = 0;
    void add(double v) {
        weight += 1;
        sum += v;
        squares += v * v;
    }
    void check(double drawn, int n, const char* what) const {
        const double mean = sum / weight;
        expect_mean(drawn, n, mean, squares / weight - mean * mean, what);
    }
};

/// Parts are drawn until one is inside the picture: their distribution is that of the definition's, of which a grid
/// over area and logarithm of the aspect keeps the parts that are inside.
TEST(HostResizedCrop, AreasAndAspectsHaveTheirDistributions) {
    constexpr int width = 90, height = 60, grid = 2000, n = 200'000;
    Expectation widths, heights, areas, aspects;
    for (int i = 0; i < grid; ++i)
        for (int k = 0; k < grid; ++k) {
            const double area = (0.08 + 0.92 * (i + 0.5) / grid) * width * height;
            const double aspect = 0.75 * std::pow(16.0 / 9, (k + 0.5) / grid);
            const double w = std::round(std::sqrt(area * aspect)), h = std::round(std::sqrt(area / aspect));
            if (w > width || h > height) continue;
            widths.add(w);
            heights.add(h);
            areas.add(w * h);
            aspects.add(std::log(w / h));
        }
    ASSERT_LT(widths.weight, 0.95 * grid * grid) << "some parts are larger than the picture";

    Random random(11, "crop");
    double w = 0, h = 0, area = 0, aspect = 0, top = 0, left = 0, top_variance = 0, left_variance = 0;
    for (int i = 0; i < n; ++i) {
        const Box box = choose_resized_crop(random, width, height);
        ASSERT_TRUE(box.left >= 0 && box.top >= 0 && box.width > 0 && box.height > 0);
        ASSERT_TRUE(box.left + box.width <= width && box.top + box.height <= height);
        w += box.width;
        h += box.height;
        area += box.width * box.height;
        aspect += std::log(static_cast<double>(box.width) / box.height);
        const double room_x = width - box.width, room_y = height - box.height;  // uniform on 0 … room
        left += box.left - room_x / 2;
        top += box.top - room_y / 2;
        left_variance += room_x * (room_x + 2) / 12;
        top_variance += room_y * (room_y + 2) / 12;
    }
    widths.check(w, n, "width");
    heights.check(h, n, "height");
    areas.check(area, n, "area");
    aspects.check(aspect, n, "logarithm of the aspect");
    EXPECT_LE(std::abs(left), 5 * std::sqrt(left_variance));
    EXPECT_LE(std::abs(top), 5 * std::sqrt(top_variance));
}

TEST(HostResizedCrop, APictureInWhichNoPartFitsGivesItsMiddle) {
    Random random(1, "crop");
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(same(choose_resized_crop(random, 1000, 10), {493, 0, 13, 10}));
        EXPECT_TRUE(same(choose_resized_crop(random, 10, 1000), {0, 493, 10, 13}));
        EXPECT_TRUE(same(choose_resized_crop(random, 1, 1), {0, 0, 1, 1}));
    }
    const ResizedCrop whole{.least_area = 1, .most_area = 1, .least_aspect = 1.3, .most_aspect = 1.4};
    EXPECT_TRUE(same(choose_resized_crop(random, 6000, 4500, whole), {0, 0, 6000, 4500})) << "its aspect is allowed";
}

TEST(HostResizedCrop, BoundsAreTheOptions) {
    Random random(2, "crop");
    const ResizedCrop half{.least_area = 0.5, .most_area = 0.5, .least_aspect = 2, .most_aspect = 2};
    for (int i = 0; i < 100; ++i) {
        const Box box = choose_resized_crop(random, 64, 64, half);
        EXPECT_EQ(box.width, 64);
        EXPECT_EQ(box.height, 32);
        EXPECT_EQ(box.left, 0);
    }
}

}  // namespace
}  // namespace vkf
