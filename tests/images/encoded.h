// Pictures as files, made by the libraries' own encoders, for tests of what reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vkf::test {

/// Samples as an encoder takes them.
/// Shapes: samples [height, width, channels].
struct Samples {
    int width = 0, height = 0, channels = 3;
    std::vector<std::uint8_t> samples;
};

struct JpegOptions {
    bool progressive = false;
    bool half_colours = false;  // a sample of colour for every 2x2 pixels
    std::string_view exif;      // content of an APP1 segment
};

/// JPEG at quality 100 of grey (1), RGB (3) or inks (4), which are stored inverted as Adobe does.
std::string encode_jpeg(const Samples& picture, const JpegOptions& options = {});

struct PngOptions {
    int colour_type = 2;  // libpng's: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha
    int depth = 8;        // bits; at 16 the samples are bytes, the upper first; below 8 one sample a byte
    bool interlaced = false;
    std::vector<std::uint8_t> palette;  // [colours, 3]
    std::vector<std::uint8_t> palette_alpha;
    std::string_view exif;
    bool exif_behind = false;  // behind the pixels
    bool header_only = false;  // no more than the beginning of the pixels
};
std::string encode_png(const Samples& picture, const PngOptions& options = {});

/// RGB or RGB and alpha; with a chunk EXIF if one is given.
std::string encode_webp(const Samples& picture, bool lossless, std::string_view exif = {});

/// An Exif block with the one tag Orientation.
std::string exif_block(int orientation, bool big_endian = false);

}  // namespace vkf::test
