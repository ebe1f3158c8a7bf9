#include "models/data/images/image_folder.h"

#include <cstdlib>

#include "tests/images/encoded.h"
#include "tests/scratch.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

namespace vkf {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::expect_holds;
using test::Scratch;

struct Colour {
    std::uint8_t red, green, blue;
};

void append(void* bytes, void* data, int size) {
    static_cast<std::string*>(bytes)->append(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

/// Encodes a PNG whose colour at each place is at(x, y); alpha is 7.
std::string png(int width, int height, int channels, const std::function<Colour(int, int)>& at) {
    std::vector<std::uint8_t> pixels;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const auto [red, green, blue] = at(x, y);
            for (const std::uint8_t value : {red, green, blue, std::uint8_t{7}})
                if (static_cast<int>(pixels.size()) < (y * width + x) * channels + channels) pixels.push_back(value);
        }
    std::string bytes;
    stbi_write_png_to_func(append, &bytes, width, height, channels, pixels.data(), width * channels);
    return bytes;
}

Colour place(int x, int y) {
    return {static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y + 100), static_cast<std::uint8_t>(x * y)};
}

std::string plain(int side, std::uint8_t value) {
    return png(side, side, 3, [&](int, int) { return Colour{value, value, value}; });
}

std::string jpeg(int side, Colour colour) {
    std::vector<std::uint8_t> pixels;
    for (int i = 0; i < side * side; ++i) pixels.insert(pixels.end(), {colour.red, colour.green, colour.blue});
    std::string bytes;
    stbi_write_jpg_to_func(append, &bytes, side, side, 3, pixels.data(), 95);
    return bytes;
}

TEST(HostImageFolder, FoldersAreClassesAndPixelsArePlanes) {
    const Scratch scratch;
    scratch.file("train/cat/a.png", png(5, 5, 3, place));
    scratch.file("train/ant/deep/b.PNG", png(5, 5, 4, place));
    scratch.file("train/ant/notes.txt", "passed over");
    scratch.file("train/ant/.hidden.png", "passed over");
    scratch.file("train/.cache/c.png", "passed over");
    scratch.file("test/cat/d.png", png(5, 5, 1, place));
    scratch.file("test/ant/e.png", plain(5, 200));
    ASSERT_TRUE(holds_images(scratch.path()));
    const ImageSet set = open_images(scratch.path());
    EXPECT_EQ(set.class_names, (std::vector<std::string>{"ant", "cat"}));
    EXPECT_EQ(set.side, 5u);
    ASSERT_EQ(set.train.size(), 2u);
    ASSERT_EQ(set.test.size(), 2u);
    EXPECT_EQ(set.train.label(0), 0);
    EXPECT_EQ(set.train.label(1), 1);
    for (std::size_t i = 0; i < 2; ++i) {  // with alpha and without
        const auto pixels = set.train.pixels(i);
        ASSERT_EQ(pixels.size(), 75u);
        for (int y = 0; y < 5; ++y)
            for (int x = 0; x < 5; ++x) {
                const auto at = static_cast<std::size_t>(y * 5 + x);
                EXPECT_EQ(pixels[at], x);
                EXPECT_EQ(pixels[25 + at], y + 100);
                EXPECT_EQ(pixels[50 + at], x * y);
            }
    }
    EXPECT_EQ(set.test.pixels(0)[74], 200);
    for (const std::size_t plane : {0u, 25u, 50u}) EXPECT_EQ(set.test.pixels(1)[plane + 3], 3);  // grey
}

TEST(HostImageFolder, JpegIsRead) {
    const Scratch scratch;
    scratch.file("a/x.jpg", jpeg(16, {200, 60, 30}));
    scratch.file("a/y.JPEG", jpeg(16, {10, 20, 240}));
    const ImageSet set = open_images(scratch.path());
    EXPECT_NEAR(set.train.pixels(0)[0], 200, 4);
    EXPECT_NEAR(set.train.pixels(0)[256], 60, 4);
    EXPECT_NEAR(set.test.pixels(0)[767], 240, 4);
}

TEST(HostImageFolder, EveryEndingOfPicturesIsRead) {
    const Scratch scratch;
    const std::string photo = jpeg(4, {9, 9, 9});
    for (const char* name : {"a/1.jpg", "a/2.jpe", "a/3.JFIF", "a/4.jpeg"}) scratch.file(name, photo);
    scratch.file("a/5.webp", test::encode_webp({4, 4, 3, std::vector<std::uint8_t>(48, 70)}, true));
    scratch.file("a/6.jpg", plain(4, 80));  // the format follows from the bytes, not from the name
    const ImageSet set = open_images(scratch.path());
    ASSERT_EQ(set.train.size(), 5u);
    EXPECT_EQ(set.train.pixels(4)[0], 70);
    EXPECT_EQ(set.test.pixels(0)[0], 80);
    EXPECT_TRUE(set.passed_over.empty());
    EXPECT_EQ(passed_over_text(set.passed_over), "");
}

TEST(HostImageFolder, WhatIsNotReadIsCounted) {
    const Scratch scratch;
    for (const char* name : {"a/0.png", "a/1.png", "b/deep/2.png", "3.png"}) scratch.file(name, plain(2, 1));
    for (const char* name : {"a/x.bmp", "a/y.BMP", "b/deep/z.tif", "b/README", "a/.hidden.bmp", "notes.txt"})
        scratch.file(name, "not read");
    const ImageSet set = open_images(scratch.path());
    EXPECT_EQ(set.train.size() + set.test.size(), 3u);
    const PassedOver wanted{
        {".bmp", 2}, {".tif", 1}, {"without an ending", 1}, {".png beside the folders of classes", 1}};
    EXPECT_EQ(set.passed_over, wanted);
    EXPECT_EQ(passed_over_text(set.passed_over),
              "5 files (2 .bmp, 1 .png beside the folders of classes, 1 .tif, 1 without an ending)");
    PassedOver many;
    for (char kind = 'a'; kind <= 'i'; ++kind) many[std::string(".") + kind] = 1;
    EXPECT_EQ(passed_over_text(many), "9 files (1 .a, 1 .b, 1 .c, 1 .d, 1 .e, 1 .f, 3 others)");
}

TEST(HostImageFolder, FilesHaveALimitOfPixels) {
    const Scratch scratch;
    scratch.file("a/0.png", plain(4, 1));
    scratch.file("a/1.png", plain(4, 1));
    for (const std::size_t side : {0u, 2u}) {
        expect_holds(complaint([&] { open_images(scratch.path(), {.side = side, .max_pixels = 15}); }),
                     "a/0.png: is 4x4 pixels, wanted at most 15 in all (--max-pixels)");
        EXPECT_EQ(open_images(scratch.path(), {.side = side, .max_pixels = 16}).train.size(), 1u);
    }
}

TEST(HostImageFolder, SplitsHaveTheirUsualNames) {
    const std::pair<const char*, const char*> names[] = {
        {"Train", "Test"},       {"training", "validation"}, {"training_set", "test_set"},
        {"train", "valid"},      {"TRAIN", "VAL"},           {"wrapped/deeper/train", "wrapped/deeper/testing"},
        {"train_set", "val_set"}};
    for (const auto& [train, test] : names) {
        const Scratch scratch;
        for (const char* name : {"a/0.png", "a/1.png", "b/0.png"}) scratch.file(fs::path(train) / name, plain(2, 1));
        for (const char* name : {"a/0.png", "b/0.png"}) scratch.file(fs::path(test) / name, plain(2, 9));
        ASSERT_TRUE(holds_images(scratch.path())) << train;
        const ImageSet set = open_images(scratch.path());
        EXPECT_EQ(set.class_names, (std::vector<std::string>{"a", "b"})) << train;
        EXPECT_EQ(set.train.size(), 3u) << train;
        ASSERT_EQ(set.test.size(), 2u) << train;
        EXPECT_EQ(set.test.pixels(0)[0], 9);
    }
}

TEST(HostImageFolder, OfValAndTestTheFormerJudgesAndTheLatterIsHeldOut) {
    const Scratch scratch;
    for (const auto& [split, grey] : {std::pair("train", 1), std::pair("val", 2), std::pair("test", 3)})
        for (const char* name : {"a/0.png", "b/0.png"})
            scratch.file(fs::path(split) / name, plain(2, static_cast<std::uint8_t>(grey)));
    const ImageSet set = open_images(scratch.path());
    ASSERT_EQ(set.test.size(), 2u);
    EXPECT_EQ(set.test.pixels(0)[0], 2);
    ASSERT_EQ(set.held_out.size(), 2u);
    EXPECT_EQ(set.held_out.pixels(1)[0], 3);
    EXPECT_TRUE(set.split);
    EXPECT_TRUE(set.passed_over.empty());
}

TEST(HostImageFolder, TinyImageNetsValidationHasItsClassesInAFile) {
    const Scratch scratch;
    for (const char* name : {"n1/images/n1_0.png", "n2/images/n2_0.png"})
        scratch.file(fs::path("train") / name, plain(2, 1));
    scratch.file("val/images/val_0.png", plain(2, 5));
    scratch.file("val/images/val_1.png", plain(2, 6));
    scratch.file("val/images/val_2.png", plain(2, 7));
    scratch.file("test/images/test_0.png", plain(2, 8));
    const auto annotate = [&](const std::string& lines) { scratch.file("val/val_annotations.txt", lines); };
    annotate("val_1.png\tn1\t0\t32\t44\t62\nval_0.png\tn2\t0\t0\t1\t1\n");
    const ImageSet set = open_images(scratch.path());
    ASSERT_EQ(set.test.size(), 2u);
    EXPECT_EQ(set.test.pixels(0)[0], 6);
    EXPECT_EQ(set.test.label(0), 0);
    EXPECT_EQ(set.test.label(1), 1);
    EXPECT_EQ(set.held_out.size(), 0u);
    EXPECT_EQ(set.passed_over, (PassedOver{{"picture without a class", 1}, {"test/ without classes", 1}}));
    annotate("val_1.png\tn3\n");
    expect_holds(complaint([&] { open_images(scratch.path()); }), "line 1: 'n3' is no class of the training images");
    annotate("../../secret.png\tn1\n");
    expect_holds(complaint([&] { open_images(scratch.path()); }), "'../../secret.png' is no name of a file");
}

TEST(HostImageFolder, AClassMayHaveTheNameOfASplit) {
    const Scratch scratch;
    for (const char* folder : {"train", "bus", "test"})
        for (const char* name : {"0.png", "1.png"}) scratch.file(fs::path(folder) / name, plain(2, 1));
    EXPECT_EQ(open_images(scratch.path()).class_names, (std::vector<std::string>{"bus", "test", "train"}));
}

TEST(HostImageFolder, FoldersBesideTheSplitsAreCounted) {
    const Scratch scratch;
    for (const char* folder : {"train", "val"}) scratch.file(fs::path(folder) / "a/0.png", plain(2, 1));
    scratch.file("test/0.png", plain(2, 1));  // without classes
    scratch.file("cover.png", plain(2, 1));
    const ImageSet set = open_images(scratch.path());
    EXPECT_EQ(set.test.size(), 1u);
    EXPECT_EQ(set.passed_over, (PassedOver{{"test/", 1}, {".png beside the folders of classes", 1}}));
}

TEST(HostImageFolder, TheLastTenthOfEachClassIsForTesting) {
    const Scratch scratch;
    for (int i = 0; i < 20; ++i) scratch.file(text("a/", 10 + i, ".png"), plain(2, static_cast<std::uint8_t>(i)));
    for (int i = 0; i < 3; ++i) scratch.file(text("b/", i, ".png"), plain(2, static_cast<std::uint8_t>(50 + i)));
    scratch.file("c/only.png", plain(2, 99));
    const ImageSet set = open_images(scratch.path());
    EXPECT_FALSE(set.split);
    EXPECT_EQ(set.train.per_class(3), (std::vector<std::size_t>{18, 2, 1}));
    EXPECT_EQ(set.test.per_class(3), (std::vector<std::size_t>{2, 1, 0}));
    EXPECT_EQ(set.train.pixels(17)[0], 17);
    EXPECT_EQ(set.test.pixels(0)[0], 18);
    EXPECT_EQ(set.test.pixels(2)[0], 52);
}

TEST(HostImageFolder, TheMiddleSquareIsResized) {
    const Scratch scratch;
    // Green in the middle 12×12 and within the filter's reach of it; red in the parts that are cut off.
    const auto wide = [](int x, int) { return x >= 10 && x < 34 ? Colour{0, 255, 0} : Colour{255, 0, 0}; };
    const auto high = [&](int x, int y) { return wide(y, x); };
    scratch.file("a/0.png", png(44, 12, 3, wide));
    scratch.file("a/1.png", png(12, 44, 3, high));
    scratch.file("a/2.png", png(4, 4, 3, place));
    const ImageSet set = open_images(scratch.path(), {.side = 4});
    ASSERT_EQ(set.side, 4u);
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t at = 0; at < 16; ++at) {
            EXPECT_EQ(set.train.pixels(i)[at], 0) << i << ' ' << at;
            EXPECT_EQ(set.train.pixels(i)[16 + at], 255) << i << ' ' << at;
        }
    EXPECT_EQ(set.test.pixels(0)[7], 3) << "an image of the right size stays as it is";
}

TEST(HostImageFolder, ResizingAveragesAndKeepsTheOrder) {
    const Scratch scratch;
    const auto quarters = [](int x, int y) {
        const auto value = static_cast<std::uint8_t>(x < 16 ? (y < 16 ? 10 : 90) : (y < 16 ? 170 : 250));
        return Colour{value, static_cast<std::uint8_t>(255 - value), value};
    };
    scratch.file("a/0.png", png(32, 32, 3, quarters));
    scratch.file("a/1.png", png(32, 32, 3, [](int x, int) {
                     const auto value = static_cast<std::uint8_t>(x % 2 * 200);
                     return Colour{value, value, value};
                 }));
    const ImageSet set = open_images(scratch.path(), {.side = 8});
    const auto pixels = set.train.pixels(0);
    EXPECT_NEAR(pixels[0], 10, 2);
    EXPECT_NEAR(pixels[7], 170, 2);
    EXPECT_NEAR(pixels[56], 90, 2);
    EXPECT_NEAR(pixels[63], 250, 2);
    EXPECT_NEAR(pixels[64], 245, 2);
    for (std::size_t at = 2; at < 6; ++at)
        EXPECT_NEAR(set.test.pixels(0)[at], 100, 12) << "stripes, not samples of them";
}

TEST(HostImageFolder, MemoryHoldsAllImagesOrNone) {
    const Scratch scratch;
    for (const char* name :
         {"train/a/0.png", "train/b/0.png", "val/a/0.png", "val/b/0.png", "test/a/0.png", "test/b/0.png"})
        scratch.file(name, png(9, 6, 3, place));
    Picture oblong{9, 6, {}};
    for (int y = 0; y < 6; ++y)
        for (int x = 0; x < 9; ++x) {
            const auto [red, green, blue] = place(x, y);
            oblong.rgb.insert(oblong.rgb.end(), {red, green, blue});
        }
    const std::vector<std::uint8_t> square = fitted(oblong, 4, {}, "").rgb;
    const auto open = [&](bool whole, std::int64_t images) {
        return open_images(scratch.path(), {.side = 4, .whole = whole, .memory = images * 48});
    };
    for (const auto& [whole, images, train, others] : std::vector<std::tuple<bool, std::int64_t, bool, bool>>{
             {false, 6, true, true}, {false, 5, false, false}, {true, 4, false, true}, {true, 3, false, false}}) {
        SCOPED_TRACE(text(whole, ' ', images));
        const ImageSet set = open(whole, images);
        EXPECT_EQ(set.side, 4u);
        EXPECT_EQ(set.train.in_memory(), train);
        EXPECT_EQ(set.test.in_memory(), others);
        EXPECT_EQ(set.held_out.in_memory(), others);
        Picture picture;
        for (const Images* split : {&set.train, &set.test, &set.held_out}) {
            ASSERT_EQ(split->size(), 2u);
            EXPECT_EQ(split->label(1), 1);
            split->read_square(1, picture);
            EXPECT_EQ(picture.width, 4);
            EXPECT_EQ(picture.rgb, square);
        }
        set.train.read_whole(0, picture);
        EXPECT_EQ(picture.width, train ? 4 : 9);
        EXPECT_EQ(picture.height, train ? 4 : 6);
    }
}

TEST(HostImageFolder, SquaresInFilesHaveTheSideOfTheFirst) {
    const Scratch scratch;
    scratch.file("a/0.png", plain(4, 1));
    scratch.file("a/1.png", plain(5, 1));
    scratch.file("a/2.png", plain(4, 3));
    const ImageSet set = open_images(scratch.path(), {.whole = true, .memory = 0});
    EXPECT_EQ(set.side, 4u);
    Picture picture;
    set.test.read_square(0, picture);
    EXPECT_EQ(picture.rgb, std::vector<std::uint8_t>(48, 3));
    expect_holds(complaint([&] { set.train.read_square(1, picture); }), "a/1.png: is 5x5, wanted 4x4");
    Images mixed = set.train.none();
    mixed.add(set.test, 0);
    mixed.read_whole(0, picture);
    EXPECT_EQ(picture.rgb, std::vector<std::uint8_t>(48, 3));
    EXPECT_THROW(Images(4).add(set.test, 0), Error);
}

TEST(HostImageFolder, BadFoldersAreRefused) {
    const std::string good = plain(4, 1), photo = jpeg(16, {9, 9, 9});
    std::string odd_chunk = good;
    odd_chunk[odd_chunk.find("IDAT") + 1] = '\n';
    struct Case {
        const char* file;
        std::string bytes;
        const char* reason;
    };
    const Case cases[] = {
        {"a/x.png", "", "a/x.png: 0 bytes, wanted a PNG, JPEG or WebP"},
        {"a/x.png", "no image at all", "a/x.png: is no PNG, JPEG or WebP image"},
        {"a/x.png", good.substr(0, good.size() / 2), "a/x.png: is cut short, wanted a whole PNG"},
        {"a/x.png", odd_chunk, "a/x.png: is no PNG image that can be read (I"},
        {"a/x.jpg", photo.substr(0, 100), "a/x.jpg: is cut short"},
        {"a/x.jpg", "\xff\xd8\xff\xd9", "a/x.jpg: is no JPEG image that can be read"},
        {"a/x.jpg", photo.substr(0, photo.size() - 2), "a/x.jpg: is cut short"},
        {"a/x.png", png(4, 5, 3, place), "a/x.png: is 4x5, wanted 4x4"},
        {"b/x.png", plain(5, 1), "b/x.png: is 5x5, wanted 4x4"},
        {"a/0.png", png(4, 5, 3, place), "a/0.png: is 4x5, wanted a square"},
        {"b/.hidden.png", good, "b: is a class without an image"},
        {"b/x.txt", "text", "b: is a class without an image, wanted PNG, JPEG or WebP files; found 1 file (1 .txt)"},
        {"train/a/x.png", good, "has train but neither test nor val"},
    };
    for (const Case& bad : cases) {
        const Scratch scratch;
        scratch.file("a/0.png", good);
        scratch.file("a/1.png", good);
        scratch.file(bad.file, bad.bytes);
        expect_holds(complaint([&] { open_images(scratch.path()); }), bad.reason);
    }
    const Scratch scratch;
    const auto open = [&] { open_images(scratch.path()); };
    expect_holds(complaint(open), "has no classes, wanted a folder of images for each");
    EXPECT_FALSE(holds_images(scratch.path()));
    scratch.file("a/0.png", good);
    expect_holds(complaint(open), "one image per class");
    scratch.file("a/x.png", png(1, 9, 3, place));
    EXPECT_EQ(open_images(scratch.path(), {.side = 3}).side, 3u);
    expect_holds(complaint([&] { open_images(scratch.path(), {.side = 1u << 20}); }), "side 1048576 is too large");
}

TEST(HostImageFolder, BothSplitsHaveTheSameClasses) {
    const Scratch scratch;
    scratch.file("train/a/0.png", plain(4, 1));
    scratch.file("train/b/0.png", plain(4, 1));
    scratch.file("val/a/0.png", plain(4, 1));
    const auto open = [&] { open_images(scratch.path()); };
    expect_holds(complaint(open), "val: has 1 classes, wanted the 2");
    scratch.file("val/c/0.png", plain(4, 1));
    expect_holds(complaint(open), "val/c: is no class of the training images");
    fs::remove_all(scratch.path() / "val/c");
    scratch.file("val/b/0.png", plain(4, 1));
    EXPECT_EQ(open_images(scratch.path()).test.size(), 2u);
}

TEST(HostImageFolder, TextFoldersAreNoImages) {
    const Scratch scratch;
    scratch.file("a/x.txt", "words");
    scratch.file("b/x.png", plain(4, 1));
    EXPECT_FALSE(holds_images(scratch.path()));
}

}  // namespace
}  // namespace vkf
