// Encodes pictures with the libraries' own encoders, for tests of their readers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vkf::test {

/// Samples of a picture, for an encoder.
/// Shapes: samples [height, width, channels].
struct Samples {
    int width = 0, height = 0, channels = 3;
    std::vector<std::uint8_t> samples;
};

struct JpegOptions {
    bool progressive = false;
    bool half_colours = false;  // one colour sample per 2x2 pixels
    std::string_view exif;      // content of an APP1 segment
};

/// Encodes JPEG at quality 100 from 1 channel (grey), 3 (RGB) or 4 (inks, which are stored inverted as Adobe does).
std::string encode_jpeg(const Samples& picture, const JpegOptions& options = {});

struct PngOptions {
    int colour_type = 2;  // libpng's: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha
    int depth = 8;        // bits; 16: samples are byte pairs, high byte first; below 8: one sample per byte
    bool interlaced = false;
    std::vector<std::uint8_t> palette;  // [colours, 3]
    std::vector<std::uint8_t> palette_alpha;
    std::string_view exif;
    bool exif_behind = false;  // after the pixels
    bool header_only = false;  // the file ends at the beginning of the pixels
};
std::string encode_png(const Samples& picture, const PngOptions& options = {});

/// Encodes RGB, or RGB and alpha; writes a chunk EXIF if `exif` is not empty.
std::string encode_webp(const Samples& picture, bool lossless, std::string_view exif = {});

/// An Exif block with Orientation as its only tag.
std::string exif_block(int orientation, bool big_endian = false);

}  // namespace vkf::test
