#include "models/images/drawing/drawing.h"

#include <climits>
#include <cmath>
#include <limits>

#include "tests/images/samples.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;

constexpr Rgb black{}, red = {200, 10, 20};

Rgb colour_at(const Image& image, int x, int y) {
    return image.at(x, y);
}

/// Smallest rectangle around all pixels that are not black.
Box inked(const Image& image) {
    int left = image.width(), top = image.height(), right = 0, bottom = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) {
            if (colour_at(image, x, y) == black) continue;
            left = std::min(left, x), right = std::max(right, x + 1);
            top = std::min(top, y), bottom = std::max(bottom, y + 1);
        }
    return {left, top, std::max(right - left, 0), std::max(bottom - top, 0)};
}

int painted(const Image& image) {
    int count = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) count += colour_at(image, x, y) != black;
    return count;
}

TEST(HostDrawing, BoxesAreCutOffAtTheBorder) {
    struct Case {
        Box box, inside;
    };
    const Case cases[] = {
        {{2, 3, 4, 5}, {2, 3, 4, 5}},
        {{-3, -2, 5, 6}, {0, 0, 2, 4}},
        {{7, 8, 100, 100}, {7, 8, 3, 4}},
        {{-5, -5, 100, 100}, {0, 0, 10, 12}},
        {{3, 3, 0, 5}, {}},
        {{3, 3, 5, -1}, {}},
        {{10, 0, 5, 5}, {}},
        {{-9, 0, 9, 5}, {}},
        {{INT_MAX, 1, INT_MAX, 2}, {}},
        {{1, INT_MIN, 2, INT_MAX}, {}},
        {{1, 1, INT_MAX, 1}, {1, 1, 9, 1}},
    };
    for (const auto& [box, inside] : cases) {
        Image image(10, 12);
        fill_box(image, box, red);
        const int area = inside.width * inside.height;
        EXPECT_EQ(painted(image), area) << box.left << ' ' << box.top;
        if (area == 0) continue;
        const Box found = inked(image);
        EXPECT_EQ(found.left, inside.left);
        EXPECT_EQ(found.top, inside.top);
        EXPECT_EQ(found.width * found.height, area);
        EXPECT_EQ(colour_at(image, inside.left, inside.top), red);
    }
}

TEST(HostDrawing, ImagesAreMagnifiedAndCutOff) {
    const Image from = test::sample(0);
    for (const int scale : {1, 2, 5})
        for (const auto& [left, top] : {std::pair(0, 0), {7, 3}, {-9, -20}, {60, 50}, {-400, 5}, {INT_MAX, INT_MIN}}) {
            Image image(64, 52, {1, 2, 3});
            draw_image(image, from, left, top, scale);
            for (int y = 0; y < 52; ++y)
                for (int x = 0; x < 64; ++x) {
                    const std::int64_t from_x = std::int64_t{x} - left, from_y = std::int64_t{y} - top;
                    const bool inside = from_x >= 0 && from_y >= 0 && from_x < 32 * scale && from_y < 32 * scale;
                    const Rgb wanted =
                        inside ? colour_at(from, static_cast<int>(from_x / scale), static_cast<int>(from_y / scale))
                               : Rgb{1, 2, 3};
                    ASSERT_EQ(colour_at(image, x, y), wanted) << scale << ' ' << x << ' ' << y;
                }
        }
    Image image(4, 4);
    draw_image(image, from, 0, 0, INT_MAX);
    EXPECT_EQ(colour_at(image, 3, 3), colour_at(from, 0, 0));
    expect_holds(complaint([&] { draw_image(image, from, 0, 0, 0); }), "scale 0, wanted at least 1");
}

TEST(HostDrawing, TextHasTheSizeItSays) {
    for (const std::string line : {"Accuracy 93.1 %", "g", "I", "automobile", "|~{}", "0123456789"})
        for (const int scale : {1, 3}) {
            Image image(400, 60);
            draw_text(image, line, 5, 4, red, scale);
            const Box found = inked(image);
            EXPECT_EQ(found.left, 5) << line;
            EXPECT_EQ(found.width, text_width(line, scale)) << line;
            EXPECT_GE(found.top, 4);
            EXPECT_LE(found.top + found.height, 4 + text_height * scale);
        }
    Image image(20, 20);
    draw_text(image, "H", 0, 0, red);
    EXPECT_EQ(inked(image).height, capital_height);
    EXPECT_EQ(text_width(""), 0);
}

TEST(HostDrawing, UpwardsTextIsTurnedByAQuarter) {
    Image level(60, 20), upright(20, 60);
    draw_text(level, "Rg 7", 3, 2, red, 2);
    draw_text(upright, "Rg 7", 2, 60 - 3, red, 2, Reading::up);
    for (int y = 0; y < 20; ++y)
        for (int x = 0; x < 60; ++x) ASSERT_EQ(colour_at(upright, y, 59 - x), colour_at(level, x, y)) << x << ' ' << y;
    EXPECT_GT(painted(level), 100);
}

TEST(HostDrawing, WhatTheFontLacksIsAQuestionMark) {
    Image strange(60, 12), marks(60, 12);
    draw_text(strange, "\n\x7f\xc3\xa4", 1, 1, red);
    draw_text(marks, "????", 1, 1, red);
    EXPECT_TRUE(std::ranges::equal(strange.bytes(), marks.bytes()));
}

TEST(HostDrawing, TextIsCutOffAtTheBorder) {
    const std::string line(300, 'W');
    for (const Reading reading : {Reading::right, Reading::up})
        for (const int x : {-50, -3, 18, 400, INT_MIN, INT_MAX})
            for (const int y : {-3, 15, INT_MIN, INT_MAX}) {
                Image image(20, 17);
                draw_text(image, line, x, y, red, 4, reading);
            }
    Image image(9, 9);
    expect_holds(complaint([&] { draw_text(image, "a", 0, 0, red, -2); }), "scale -2");
}

TEST(HostDrawing, LinesAreShortenedToFit) {
    EXPECT_EQ(fit_text("automobile", 1000), "automobile");
    EXPECT_EQ(fit_text("automobile", text_width("automobile", 2), 2), "automobile");
    const std::string shown = fit_text("automobile", text_width("automobile") - 1);
    EXPECT_TRUE(shown.starts_with("autom") && shown.ends_with("..")) << shown;
    EXPECT_EQ(fit_text("automobile", 1), "");
    EXPECT_EQ(fit_text("", 0), "");
}

TEST(HostDrawing, ABoxHasItsTextInTheMiddle) {
    Image image(100, 40);
    draw_text_in(image, "HH", {20, 10, 50, 20}, red, 2);
    const Box found = inked(image);
    EXPECT_NEAR(2 * found.left + found.width, 90, 1);
    EXPECT_NEAR(2 * found.top + found.height, 40, 1);
    draw_text_in(image, "longer than its box is wide", {20, 10, 50, 20}, red, 2);
    EXPECT_GE(inked(image).left, 20);
    EXPECT_LE(inked(image).left + inked(image).width, 70);
}

TEST(HostDrawing, LightnessIsTheStandards) {
    EXPECT_EQ(lightness({0, 0, 0}), 0);
    EXPECT_NEAR(lightness({255, 255, 255}), 100, 1e-9);
    EXPECT_NEAR(lightness({119, 119, 119}), 50, 0.1);  // the middle grey of CIE L*
    EXPECT_NEAR(lightness({255, 0, 0}), 53.24, 0.01);
    EXPECT_NEAR(lightness({5, 5, 5}), 1.37, 0.01);
}

TEST(HostDrawing, TheScaleOfColoursGetsLighterEvenly) {
    constexpr int n = 100;  // finer steps are lost in the rounding to bytes
    double before = -1;
    for (int i = 0; i <= n; ++i) {
        const double now = lightness(scale_colour(static_cast<double>(i) / n));
        EXPECT_GT(now, before) << i;
        EXPECT_NEAR(now, 10 + 78.0 * i / n, 4) << i;
        before = now;
    }
    EXPECT_EQ(scale_colour(-1), scale_colour(0));
    EXPECT_EQ(scale_colour(7), scale_colour(1));
    EXPECT_EQ(scale_colour(std::numeric_limits<double>::quiet_NaN()), scale_colour(0));
}

}  // namespace
}  // namespace vkf
