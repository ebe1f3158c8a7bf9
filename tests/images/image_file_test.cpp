#include "models/images/image_file.h"

#include "base/files/file.h"
#include "tests/images/encoded.h"
#include "tests/images/samples.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using test::complaint;
using test::expect_holds;
using test::Scratch;

bool same(const Image& a, const Image& b) {
    return a.width() == b.width() && a.height() == b.height() && std::ranges::equal(a.bytes(), b.bytes());
}

TEST(HostImageFile, WhatIsWrittenIsReadBack) {
    const Scratch scratch;
    const auto path = scratch.path() / "image.png";
    for (int number = 0; number < test::sample_count; number += 3) {  // odd sizes among them, down to one pixel
        const Image image = test::sample(number);
        write_png(path, image);
        ASSERT_TRUE(same(read_image(path), image)) << number;
    }
    const Image longest(Image::longest_side, 1, {1, 2, 3});
    write_png(path, longest);
    EXPECT_TRUE(same(read_image(path), longest));
}

TEST(HostImageFile, SquaresAreCutOutAndResizedUnlessTheyFit) {
    const Scratch scratch;
    const auto path = scratch.path() / "image.png";
    Image wide(24, 8, {255, 0, 0});
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 24; ++x) wide.at(x, y)[1] = static_cast<std::uint8_t>(100 + x);
    write_png(path, wide);
    const Image small = read_square_image(path, 4);
    EXPECT_EQ(small.width(), 4);
    EXPECT_EQ(small.height(), 4);
    for (int x = 0; x < 4; ++x) {
        EXPECT_NEAR(small.at(x, 2)[1], 108.5 + 2 * x, 2);
        EXPECT_EQ(small.at(x, 2)[0], 255);
    }
    const Image fitting = test::sample(0);
    write_png(path, fitting);
    EXPECT_TRUE(same(read_square_image(path, 32), fitting));
    for (const int side : {0, -1, Image::longest_side + 1})
        expect_holds(complaint([&] { read_square_image(path, side); }), text("side ", side, ", wanted 1 to 4096"));
}

TEST(HostImageFile, LargerImagesAreReadOnlyToBeMadeSmaller) {
    const Scratch scratch;
    const auto path = scratch.path() / "image.png";
    scratch.file("image.png", test::encode_png({8192, 1, 3, std::vector<std::uint8_t>(3 * 8192, 9)}));
    expect_holds(complaint([&] { read_image(path); }), "image.png: is 8192x1 pixels, wanted sides of 1 to 4096");
    EXPECT_EQ(read_square_image(path, 5).width(), 5);
    expect_holds(complaint([&] { read_square_image(path, 5, 8191); }),
                 "image.png: is 8192x1 pixels, wanted at most 8191 in all (--max-pixels)");
}

TEST(HostImageFile, PicturesStandUprightBeforeTheyAreCut) {
    const Scratch scratch;
    test::Samples wide{6, 2, 3, {}};
    for (int i = 0; i < 12; ++i) wide.samples.insert(wide.samples.end(), 3, static_cast<std::uint8_t>(i));
    const auto path = scratch.file("image.png", test::encode_png(wide, {.exif = test::exif_block(6)}));
    const Image whole = read_image(path), square = read_square_image(path, 2);
    ASSERT_EQ(whole.width(), 2);
    ASSERT_EQ(whole.height(), 6);
    EXPECT_EQ(whole.at(0, 0).r, 6);
    EXPECT_EQ(whole.at(1, 5).r, 5);
    EXPECT_EQ(square.at(0, 0).r, 8);
    EXPECT_EQ(square.at(1, 1).r, 3);
}

TEST(HostImageFile, FailuresNameThePath) {
    const Scratch scratch;
    const Image image(3, 2);
    expect_holds(complaint([&] { read_image(scratch.path() / "none.png"); }), "none.png");
    expect_holds(complaint([&] { read_image(scratch.file("text.png", "words")); }),
                 "text.png: is no PNG, JPEG or WebP");
    expect_holds(complaint<Error>([&] { write_png(scratch.path() / "missing/image.png", image); }), "missing");
    expect_holds(complaint<Error>([&] { write_png("/dev/full", image); }), "/dev/full");
}

}  // namespace
}  // namespace vkf
