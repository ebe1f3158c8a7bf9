// A picture as decoded from a file, of any size, unlike an Image.
#pragma once

#include <cstdint>
#include <vector>

namespace vkf {

/// Default limit of a picture's pixels: PIL's (PIL.Image.MAX_IMAGE_PIXELS), which is 256 MiB of RGB.
inline constexpr std::int64_t DEFAULT_MAX_PIXELS = 89'478'485;

/// Largest size of a picture. Decoders keep whole rows in addition to the picture, so sides have a limit, too.
struct PictureLimits {
    std::int64_t pixels = DEFAULT_MAX_PIXELS;
    std::int64_t side = 1'000'000;
};

/// RGB with 8 bits, rows from the top, pixels from the left.
struct Picture {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgb;  // [height, width, 3]
};

}  // namespace vkf
