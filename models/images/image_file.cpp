#include "models/images/image_file.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS (1 << 15)
#include <stb/stb_image.h>

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

// What stb decodes, which may be larger than an Image.
struct Pixels {
    int width = 0, height = 0;
    std::unique_ptr<stbi_uc, void (*)(void*)> rgb{nullptr, stbi_image_free};  // [height, width, 3]
};

// Walks over a JPEG's segments for what stb does not notice: an end before the end-of-image marker, which some versions
// fill with grey, and Huffman tables of more than 256 codes, which some versions write past their own. Returns what is
// wrong, or nothing.
std::string_view jpeg_flaw(std::span<const stbi_uc> bytes) {
    constexpr stbi_uc START = 0xd8, END = 0xd9, TABLES = 0xc4;
    if (bytes.size() < 2 || bytes[0] != 0xff || bytes[1] != START) return {};
    for (std::size_t at = 2; at + 1 < bytes.size();) {
        const stbi_uc marker = bytes[at + 1];
        const bool in_scan = marker == 0 || (marker >= 0xd0 && marker <= 0xd7);  // a stuffed byte, a restart
        if (bytes[at] != 0xff || marker == 0xff || in_scan) {
            ++at;
            continue;
        }
        if (marker == END) return {};
        if (at + 3 >= bytes.size()) break;
        const std::size_t end = at + 2 + bytes[at + 2] * 256u + bytes[at + 3];
        if (end > bytes.size()) break;
        for (std::size_t table = at + 4; marker == TABLES && table + 17 <= end;) {
            std::size_t codes = 0;
            for (std::size_t length = 1; length <= 16; ++length) codes += bytes[table + length];
            if (codes > 256) return "has a Huffman table of more than 256 codes";
            table += 17 + codes;
        }
        at = end;
    }
    return "is cut short";
}

// Why stb refused an image; it may quote bytes of the file.
std::string stb_reason() {
    std::string reason = stbi_failure_reason();
    std::ranges::replace_if(
        reason, [](char c) { return c < ' ' || c > '~'; }, '?');
    return reason;
}

Pixels decode(const fs::path& path) {
    const std::string shown = path.string();
    const MappedFile file(path);
    require(!file.bytes().empty() && file.bytes().size() <= INT_MAX, shown, ": ", file.bytes().size(),
            " bytes, wanted a PNG or JPEG image");
    const auto* bytes = reinterpret_cast<const stbi_uc*>(file.bytes().data());
    const std::string_view flaw = jpeg_flaw({bytes, file.bytes().size()});
    require(flaw.empty(), shown, ": ", flaw, ", wanted a whole JPEG image");
    const int size = static_cast<int>(file.bytes().size());
    Pixels image;
    int found = 0;
    image.rgb.reset(stbi_load_from_memory(bytes, size, &image.width, &image.height, &found, CHANNELS));
    if (!image.rgb) throw InputError(shown, ": is no PNG or JPEG image that can be read (", stb_reason(), ")");
    return image;
}

Image as_it_is(const Pixels& pixels, const fs::path& path) {
    require(std::max(pixels.width, pixels.height) <= Image::longest_side, path.string(), ": is ", pixels.width, 'x',
            pixels.height, ", wanted sides of at most ", Image::longest_side);
    Image image(pixels.width, pixels.height);
    std::copy_n(pixels.rgb.get(), image.bytes().size(), image.bytes().data());
    return image;
}

// The middle square, resized.
Image square(const Pixels& pixels, int side) {
    const int cut = std::min(pixels.width, pixels.height), pitch = pixels.width * CHANNELS;
    const stbi_uc* from = pixels.rgb.get() + (pixels.height - cut) / 2 * pitch + (pixels.width - cut) / 2 * CHANNELS;
    Image image(side, side);
    std::uint8_t* to = image.bytes().data();
#if VKFORMER_RESIZE2
    const bool done = stbir_resize_uint8_linear(from, cut, cut, pitch, to, side, side, 0, STBIR_RGB);
#else
    const bool done = stbir_resize_uint8(from, cut, cut, pitch, to, side, side, 0, CHANNELS);
#endif
    if (!done) throw Error("out of memory for an image of ", pixels.width, 'x', pixels.height);
    return image;
}

}  // namespace

Image read_image(const fs::path& path) {
    return as_it_is(decode(path), path);
}

Image read_square_image(const fs::path& path, int side) {
    require(side >= 1 && side <= Image::longest_side, "side ", side, ", wanted 1 to ", Image::longest_side);
    const Pixels pixels = decode(path);
    const bool fits = pixels.width == side && pixels.height == side;
    return fits ? as_it_is(pixels, path) : square(pixels, side);
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
