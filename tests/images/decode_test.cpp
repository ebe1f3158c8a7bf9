#include "models/images/codecs/decode.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/images/encoded.h"
#include "tests/scratch.h"

namespace vkf {
namespace {

using test::complaint;
using test::encode_jpeg;
using test::encode_png;
using test::encode_webp;
using test::exif_block;
using test::expect_holds;
using test::Samples;

const std::string exif_prefix("Exif\0\0", 6);

Picture decode(const std::string& bytes, std::int64_t max_pixels = DEFAULT_MAX_PIXELS) {
    return decode_picture(std::as_bytes(std::span(bytes)), "file", {.pixels = max_pixels});
}

std::string refusal(const std::string& bytes) {
    return complaint([&] { decode(bytes); });
}

/// Samples that change slowly, which JPEG keeps accurately.
Samples smooth(int width, int height, int channels) {
    Samples made{width, height, channels, {}};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (int channel = 0; channel < channels; ++channel)
                made.samples.push_back(static_cast<std::uint8_t>(40 + 50 * channel + 3 * x + (channel % 2 ? y : -y)));
    return made;
}

Samples noise(int width, int height, int channels, unsigned values = 256) {
    std::mt19937 random(7);
    Samples made{width, height, channels, {}};
    for (int i = 0; i < width * height * channels; ++i)
        made.samples.push_back(static_cast<std::uint8_t>(random() % values));
    return made;
}

void expect_size(const Picture& picture, int width, int height) {
    EXPECT_EQ(picture.width, width);
    EXPECT_EQ(picture.height, height);
    ASSERT_EQ(picture.rgb.size(), static_cast<std::size_t>(3 * width * height));
}

TEST(HostDecode, JpegIsWhatWasEncoded) {
    for (const bool progressive : {false, true})
        for (const bool half : {false, true}) {
            const Samples wanted = smooth(21, 13, 3);
            const Picture picture = decode(encode_jpeg(wanted, {.progressive = progressive, .half_colours = half}));
            expect_size(picture, 21, 13);
            for (std::size_t i = 0; i < picture.rgb.size(); ++i)
                ASSERT_NEAR(picture.rgb[i], wanted.samples[i], half ? 12 : 3) << i;
        }
    const Samples grey = smooth(9, 20, 1);
    const Picture spread = decode(encode_jpeg(grey));
    expect_size(spread, 9, 20);
    for (std::size_t i = 0; i < spread.rgb.size(); ++i) ASSERT_NEAR(spread.rgb[i], grey.samples[i / 3], 2);
}

TEST(HostDecode, InksOfJpegAreConverted) {
    Samples inks{16, 8, 4, {}};
    for (int i = 0; i < 16 * 8; ++i) inks.samples.insert(inks.samples.end(), {200, 100, 0, 51});
    const Picture picture = decode(encode_jpeg(inks));
    expect_size(picture, 16, 8);
    // 255·(1 − ink)·(1 − black), as in PIL
    const double left = 255 - 51;
    EXPECT_NEAR(picture.rgb[0], left * 55 / 255, 2);
    EXPECT_NEAR(picture.rgb[1], left * 155 / 255, 2);
    EXPECT_NEAR(picture.rgb[2], left, 2);
}

TEST(HostDecode, PngOfEveryKindIsExact) {
    for (const bool interlaced : {false, true}) {
        const auto expect = [&](const Samples& from, test::PngOptions options, auto wanted) {
            options.interlaced = interlaced;
            const Picture picture = decode(encode_png(from, options));
            expect_size(picture, from.width, from.height);
            const std::size_t pixel = from.samples.size() / (picture.rgb.size() / 3);
            for (std::size_t i = 0; i < picture.rgb.size(); ++i)
                ASSERT_EQ(picture.rgb[i], wanted(from.samples.data() + i / 3 * pixel, i % 3)) << i;
        };
        using Pixel = const std::uint8_t*;
        const auto first = [](Pixel p, std::size_t) { return p[0]; };
        const auto own = [](Pixel p, std::size_t channel) { return p[channel]; };
        const auto upper = [](Pixel p, std::size_t channel) { return p[2 * channel]; };
        expect(noise(13, 7, 3), {}, own);
        expect(noise(13, 7, 4), {.colour_type = 6}, own);
        expect(noise(13, 7, 1), {.colour_type = 0}, first);
        expect(noise(13, 7, 2), {.colour_type = 4}, first);
        expect(noise(13, 7, 6), {.depth = 16}, upper);
        expect(noise(13, 7, 8), {.colour_type = 6, .depth = 16}, upper);
        expect(noise(13, 7, 2), {.colour_type = 0, .depth = 16}, first);
        for (const int depth : {1, 2, 4}) {
            const int most = (1 << depth) - 1;
            expect(noise(13, 7, 1, static_cast<unsigned>(most + 1)), {.colour_type = 0, .depth = depth},
                   [&](Pixel p, std::size_t) { return p[0] * 255 / most; });
        }
        const std::vector<std::uint8_t> palette{1, 2, 3, 40, 50, 60, 255, 254, 253};
        const auto looked_up = [&](Pixel p, std::size_t channel) { return palette[3u * p[0] + channel]; };
        for (const int depth : {2, 8})
            for (const bool alpha : {false, true})
                expect(noise(13, 7, 1, 3),
                       {.colour_type = 3,
                        .depth = depth,
                        .palette = palette,
                        .palette_alpha = alpha ? std::vector<std::uint8_t>{0, 9} : std::vector<std::uint8_t>{}},
                       looked_up);
    }
}

TEST(HostDecode, WebpIsRead) {
    const Samples rgb = noise(19, 11, 3);
    EXPECT_EQ(decode(encode_webp(rgb, true)).rgb, rgb.samples);
    Samples alpha = noise(19, 11, 4);
    for (std::size_t i = 3; i < alpha.samples.size(); i += 4) alpha.samples[i] |= 1;  // not 0: colours are kept
    const Picture dropped = decode(encode_webp(alpha, true));
    for (std::size_t i = 0; i < dropped.rgb.size(); ++i) ASSERT_EQ(dropped.rgb[i], alpha.samples[i / 3 * 4 + i % 3]);
    const Samples wanted = smooth(32, 16, 3);
    const Picture near = decode(encode_webp(wanted, false));
    expect_size(near, 32, 16);
    for (std::size_t i = 0; i < near.rgb.size(); ++i) ASSERT_NEAR(near.rgb[i], wanted.samples[i], 12);
}

TEST(HostDecode, PicturesAreTurnedAsTheirCameraNoted) {
    // A picture of 3x2 pixels a b c / d e f, and its correct display for each orientation.
    const std::string seen[] = {"abc/def",  "cba/fed",  "fed/cba",  "def/abc",
                                "ad/be/cf", "da/eb/fc", "fc/eb/da", "cf/be/ad"};
    Samples letters{3, 2, 3, {}};
    for (const char letter : std::string("abcdef"))
        letters.samples.insert(letters.samples.end(), 3, static_cast<std::uint8_t>(letter));
    Samples blocks{24, 16, 3, {}};  // the same with pixels of 8x8, which JPEG preserves
    for (int i = 0; i < 24 * 16; ++i)
        blocks.samples.insert(blocks.samples.end(), 3,
                              static_cast<std::uint8_t>(40 * ("abcdef"[i / 24 / 8 * 3 + i % 24 / 8] - 'a')));
    for (int orientation = 1; orientation <= 8; ++orientation) {
        const std::string& wanted = seen[orientation - 1];
        const auto shown = [](const Picture& picture, int side, auto letter) {
            std::string made;
            for (int y = side / 2; y < picture.height; y += side) {
                if (!made.empty()) made += '/';
                for (int x = side / 2; x < picture.width; x += side)
                    made += letter(picture.rgb[static_cast<std::size_t>(3 * (y * picture.width + x))]);
            }
            return made;
        };
        const auto plain = [](std::uint8_t value) { return static_cast<char>(value); };
        for (const bool big : {false, true}) {
            const std::string exif = exif_block(orientation, big);
            EXPECT_EQ(shown(decode(encode_png(letters, {.exif = exif})), 1, plain), wanted);
            EXPECT_EQ(shown(decode(encode_png(letters, {.exif = exif, .exif_behind = true})), 1, plain), wanted);
            EXPECT_EQ(shown(decode(encode_webp(letters, true, exif)), 1, plain), wanted);
            EXPECT_EQ(shown(decode(encode_webp(letters, true, exif_prefix + exif)), 1, plain), wanted);
            EXPECT_EQ(shown(decode(encode_jpeg(blocks, {.exif = exif_prefix + exif})), 8,
                            [](std::uint8_t value) { return static_cast<char>('a' + (value + 20) / 40); }),
                      wanted);
        }
    }
}

TEST(HostDecode, SizesAreAskedFirst) {
    const Samples huge{26'700, 26'700, 1, {}};
    expect_holds(refusal(encode_png(huge, {.colour_type = 0, .header_only = true})),
                 "file: is 26700x26700 pixels, wanted at most 89478485 in all (--max-pixels)");
    expect_holds(refusal(encode_png({2'000'000, 1, 1, {}}, {.colour_type = 0, .header_only = true})),
                 "file: is 2000000x1 pixels, wanted sides of 1 to 1000000");
    std::string jpeg = encode_jpeg(smooth(16, 16, 3));
    const std::size_t frame = jpeg.find("\xff\xc0");  // marker, length, precision, height, width
    for (const std::size_t at : {5u, 7u}) jpeg[frame + at] = '\xf0';
    expect_holds(refusal(jpeg), "file: is 61456x61456 pixels");
    const Samples small = smooth(10, 5, 3);
    for (const std::string& bytes : {encode_png(small), encode_jpeg(small), encode_webp(small, true)}) {
        EXPECT_EQ(decode(bytes, 50).width, 10);
        expect_holds(complaint([&] { decode(bytes, 49); }), "file: is 10x5 pixels, wanted at most 49 in all");
    }
}

TEST(HostDecode, FilesCutShortAreRefusedWhereverTheyEnd) {
    const Samples picture = smooth(24, 16, 3);
    const std::string exif = exif_block(6);
    for (const std::string& whole :
         {encode_png(picture, {.exif = exif, .exif_behind = true}), encode_png(picture, {.interlaced = true}),
          encode_jpeg(picture, {.exif = exif_prefix + exif}), encode_jpeg(picture, {.progressive = true}),
          encode_webp(picture, true), encode_webp(picture, false)})
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const std::string reason = refusal(whole.substr(0, size));
            ASSERT_TRUE(reason.starts_with("file: ")) << size << " of " << whole.size() << ": " << reason;
        }
    const std::string jpeg = encode_jpeg(picture), png = encode_png(picture);
    expect_holds(refusal(jpeg.substr(0, jpeg.size() - 2)), "file: is cut short, wanted a whole JPEG image");
    expect_holds(refusal(png.substr(0, png.size() / 2)), "file: is cut short, wanted a whole PNG image");
    EXPECT_EQ(decode(jpeg + "and a tail").width, 24);
}

TEST(HostDecode, DamageIsAnInputErrorOrGoesUnseen) {
    const Samples picture = smooth(24, 16, 3);
    const std::string exif = exif_prefix + exif_block(6);
    std::mt19937 random(3);
    int refused = 0, read = 0;
    for (const std::string& whole :
         {encode_png(picture), encode_jpeg(picture, {.exif = exif}), encode_jpeg(picture, {.progressive = true}),
          encode_webp(picture, true), encode_webp(picture, false, exif)})
        for (int round = 0; round < 400; ++round) {
            std::string damaged = whole;
            for (auto count = 1 + random() % 3; count > 0; --count)
                damaged[random() % damaged.size()] = static_cast<char>(random());
            try {
                const Picture seen = decode(damaged, 1'000'000);
                EXPECT_EQ(seen.rgb.size(), static_cast<std::size_t>(3 * seen.width * seen.height));
                ++read;
            } catch (const InputError& error) {
                ASSERT_EQ(std::string(error.what()).find_first_not_of("\n\t"), 0u) << error.what();
                ++refused;
            }
        }
    EXPECT_GT(refused, 400);
    EXPECT_GT(read, 20);
}

TEST(HostDecode, DamagedExifIsIgnored) {
    const Samples picture = smooth(24, 16, 3);
    const std::string whole = exif_block(6);
    std::vector<std::string> blocks{"", "II", "no TIFF at all", exif_block(0), exif_block(9), whole + "and more"};
    for (std::size_t size = 1; size < 32; ++size) blocks.push_back(whole.substr(0, size));  // cut before the value
    std::string far = whole;
    far[4] = far[5] = far[6] = far[7] = '\xff';  // offset of the directory
    blocks.push_back(far);
    for (const std::string& block : blocks) {
        const bool turned = block.starts_with(whole);
        EXPECT_EQ(decode(encode_jpeg(picture, {.exif = exif_prefix + block})).width, turned ? 16 : 24) << block.size();
        EXPECT_EQ(decode(encode_webp(picture, true, block)).width, turned ? 16 : 24) << block.size();
    }
}

TEST(HostDecode, JpegsThatDecodersStumbleOver) {
    const Samples picture = smooth(16, 16, 3);
    const std::string jpeg = encode_jpeg(picture);
    expect_holds(refusal('\xff' + jpeg), "file: is no PNG, JPEG or WebP image");
    // A Huffman table: marker, length, class, 16 counts of codes by length, the codes' values.
    const std::size_t table = jpeg.find("\xff\xc4");
    std::string brief = jpeg, flooded = jpeg;
    brief[table + 3] = 20;
    expect_holds(refusal(brief), "file: is no JPEG image that can be read");
    for (std::size_t i = 0; i < 16; ++i) flooded[table + 5 + i] = '\x11';  // 272 codes
    expect_holds(refusal(flooded), "file: is no JPEG image that can be read");
    // Fill bytes between segments are usual and harmless.
    std::string filled = jpeg;
    filled.insert(table, "\xff\xff\xff");
    EXPECT_EQ(decode(filled).rgb, decode(jpeg).rgb);
    // A preview has its own end marker, which must not be taken for the picture's.
    const std::string preview = std::string("\xff\xe1\0\x09", 4) + "Exif\xff\xd9x";
    std::string with_preview = jpeg;
    with_preview.insert(2, preview);
    EXPECT_EQ(decode(with_preview).rgb, decode(jpeg).rgb);
    expect_holds(refusal(with_preview.substr(0, with_preview.size() - 2)), "file: is cut short");
}

TEST(HostDecode, ScansOfJpegAreCounted) {
    const std::string jpeg = encode_jpeg(smooth(16, 16, 3), {.progressive = true});
    const std::size_t begin = jpeg.find("\xff\xda"), end = jpeg.find("\xff\xc4", begin);  // of the first scan
    const auto with_more = [&](int times) {
        std::string made = jpeg;
        for (int i = 0; i < times; ++i) made.insert(begin, jpeg, begin, end - begin);
        return made;
    };
    EXPECT_EQ(decode(with_more(50)).width, 16);
    expect_holds(refusal(with_more(200)), "more than 100 scans");
}

}  // namespace
}  // namespace vkf
