#include "models/images/image_file.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "base/files/file.h"
#include "models/images/codecs/decode.h"
#include "models/images/image.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>

namespace vkf {
namespace fs = std::filesystem;
namespace {

Picture read_picture(const fs::path& path, const PictureLimits& limits) {
    return decode_picture(MappedFile(path).bytes(), path.string(), limits);
}

Image as_it_is(const Picture& picture) {
    Image image(picture.width, picture.height);
    std::copy_n(picture.rgb.data(), image.bytes().size(), image.bytes().data());
    return image;
}

}  // namespace

Image read_image(const fs::path& path, std::int64_t max_pixels) {
    return as_it_is(read_picture(path, {.pixels = max_pixels, .side = Image::longest_side}));
}

Image read_square_image(const fs::path& path, int side, std::int64_t max_pixels, const ImageFit& fit) {
    require(side >= 1 && side <= Image::longest_side, "side ", side, ", wanted 1 to ", Image::longest_side);
    return as_it_is(fitted(read_picture(path, {.pixels = max_pixels}), side, fit, path.string()));
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
