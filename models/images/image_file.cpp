#include "models/images/image_file.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "models/images/decode.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

// Two generations of the same library: the newer one where a system has it.
#if __has_include(<stb/stb_image_resize2.h>)
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb/stb_image_resize2.h>
#define VKFORMER_RESIZE2 1
#else
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb/stb_image_resize.h>
#define VKFORMER_RESIZE2 0
#endif

namespace vkf {
namespace fs = std::filesystem;
namespace {

constexpr int CHANNELS = 3;

Picture read_picture(const fs::path& path, const PictureLimits& limits) {
    return decode_picture(MappedFile(path).bytes(), path.string(), limits);
}

Image as_it_is(const Picture& picture) {
    Image image(picture.width, picture.height);
    std::copy_n(picture.rgb.data(), image.bytes().size(), image.bytes().data());
    return image;
}

// The middle square, resized.
Image square(const Picture& picture, int side) {
    const int cut = std::min(picture.width, picture.height), pitch = picture.width * CHANNELS;
    const std::size_t top = static_cast<std::size_t>(picture.height - cut) / 2,
                      left = static_cast<std::size_t>(picture.width - cut) / 2;
    const std::uint8_t* from = picture.rgb.data() + top * static_cast<std::size_t>(pitch) + left * CHANNELS;
    Image image(side, side);
    std::uint8_t* to = image.bytes().data();
#if VKFORMER_RESIZE2
    const bool done = stbir_resize_uint8_linear(from, cut, cut, pitch, to, side, side, 0, STBIR_RGB);
#else
    const bool done = stbir_resize_uint8(from, cut, cut, pitch, to, side, side, 0, CHANNELS);
#endif
    if (!done) throw Error("out of memory for an image of ", picture.width, 'x', picture.height);
    return image;
}

}  // namespace

Image read_image(const fs::path& path, std::int64_t max_pixels) {
    return as_it_is(read_picture(path, {.pixels = max_pixels, .side = Image::longest_side}));
}

Image read_square_image(const fs::path& path, int side, std::int64_t max_pixels) {
    require(side >= 1 && side <= Image::longest_side, "side ", side, ", wanted 1 to ", Image::longest_side);
    const Picture picture = read_picture(path, {.pixels = max_pixels});
    const bool fits = picture.width == side && picture.height == side;
    return fits ? as_it_is(picture) : square(picture, side);
}

void write_png(const fs::path& path, const Image& image) {
    int size = 0;
    const std::unique_ptr<unsigned char, void (*)(void*)> png(
        stbi_write_png_to_mem(image.bytes().data(), image.width() * CHANNELS, image.width(), image.height(), CHANNELS,
                              &size),
        std::free);
    if (!png) throw Error("out of memory for a PNG of ", image.width(), 'x', image.height());
    write_atomically(path, {reinterpret_cast<const char*>(png.get()), static_cast<std::size_t>(size)});
}

}  // namespace vkf
