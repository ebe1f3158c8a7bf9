#include "models/images/drawing/confusion.h"

#include <cmath>
#include <set>

#include "models/images/drawing/drawing.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;

std::vector<std::string> names_of(std::size_t classes) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < classes; ++i) names.push_back(text("class ", i));
    return names;
}

bool holds_colour(const Image& image, Rgb colour) {
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            if (image.at(x, y) == colour) return true;
    return false;
}

TEST(HostConfusion, CountsAndShares) {
    ConfusionMatrix matrix(3);
    EXPECT_TRUE(std::isnan(matrix.accuracy()));
    for (const auto& [label, prediction] : {std::pair(0, 0), {0, 0}, {0, 1}, {0, 2}, {1, 1}})
        matrix.add(label, prediction);
    EXPECT_EQ(matrix.count(0, 0), 2u);
    EXPECT_EQ(matrix.count(0, 2), 1u);
    EXPECT_EQ(matrix.count(2, 0), 0u);
    EXPECT_EQ(matrix.count(0), 4u);
    EXPECT_EQ(matrix.count(), 5u);
    EXPECT_EQ(matrix.recall(0), 0.5);
    EXPECT_EQ(matrix.recall(1), 1.0);
    EXPECT_TRUE(std::isnan(matrix.recall(2)));
    EXPECT_EQ(matrix.accuracy(), 0.6);
}

TEST(HostConfusion, BadNumbersAreRefused) {
    expect_holds(complaint([] { ConfusionMatrix(0); }), "0 classes");
    ConfusionMatrix matrix(3);
    expect_holds(complaint([&] { matrix.add(3, 0); }), "label 3, prediction 0, wanted 0 to 2");
    expect_holds(complaint([&] { matrix.add(0, -1); }), "prediction -1");
    expect_holds(complaint([&] { draw_confusion(matrix, names_of(2)); }), "2 names, wanted 3");
    expect_holds(complaint([&] { draw_confusion(ConfusionMatrix(5000), names_of(5000)); }), "5000 classes");
}

TEST(HostConfusion, CellsHaveTheColourOfTheirShare) {
    ConfusionMatrix matrix(4);
    for (int i = 0; i < 8; ++i) matrix.add(0, i < 5 ? 0 : 2);
    matrix.add(1, 1);
    const Image image = draw_confusion(matrix, names_of(4));
    for (const double share : {0.0, 0.375, 0.625, 1.0}) EXPECT_TRUE(holds_colour(image, scale_colour(share))) << share;
}

TEST(HostConfusion, EveryNumberOfClassesHasAPicture) {
    for (const std::size_t classes : {1u, 2u, 10u, 20u, 21u, 100u, 1000u}) {
        ConfusionMatrix matrix(classes);
        const auto names = names_of(classes);
        const Image empty = draw_confusion(matrix, names);
        for (std::size_t i = 0; i < 3 * classes; ++i)
            matrix.add(static_cast<std::int64_t>(i % classes), static_cast<std::int64_t>(i * i % classes));
        const Image image = draw_confusion(matrix, names, "synthetic");
        EXPECT_EQ(image.height(), empty.height()) << classes;
        EXPECT_GE(image.height(), static_cast<int>(classes));
        EXPECT_TRUE(holds_colour(image, scale_colour(0)) || classes < 3);
    }
    std::vector<std::string> names = names_of(2);
    names[1] = std::string(500, 'x');
    EXPECT_LT(draw_confusion(ConfusionMatrix(2), names).width(), 1000) << "long names are shortened";
}

}  // namespace
}  // namespace vkf
