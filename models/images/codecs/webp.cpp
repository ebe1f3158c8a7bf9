// WebP by libwebp.
#include <webp/decode.h>

#include <cstring>

#include "models/images/codecs/codecs.h"
#include "models/images/codecs/orientation.h"

namespace vkf {
namespace {

std::uint32_t little_endian(const std::uint8_t* at) {
    return at[0] | at[1] << 8 | at[2] << 16 | static_cast<std::uint32_t>(at[3]) << 24;
}

// Chunk "EXIF" of the RIFF file. A chunk is a name, a size and that many bytes, padded to an even number.
std::span<const std::byte> exif(const EncodedPicture& file) {
    constexpr std::size_t RIFF_HEADER = 12, CHUNK_HEADER = 8;
    for (std::size_t at = RIFF_HEADER; at + CHUNK_HEADER <= file.bytes.size();) {
        const std::size_t size = little_endian(file.data() + at + 4), begin = at + CHUNK_HEADER;
        if (size > file.bytes.size() - begin) break;
        if (std::memcmp(file.data() + at, "EXIF", 4) == 0) return file.bytes.subspan(begin, size);
        at = begin + size + size % 2;
    }
    return {};
}

void check(const EncodedPicture& file, VP8StatusCode status) {
    switch (status) {
        case VP8_STATUS_OK:
            return;
        case VP8_STATUS_OUT_OF_MEMORY:
            throw std::bad_alloc();
        case VP8_STATUS_SUSPENDED:
        case VP8_STATUS_NOT_ENOUGH_DATA:
            file.refuse_short();
        case VP8_STATUS_UNSUPPORTED_FEATURE:
            file.refuse("it uses what libwebp does not know");
        default:
            file.refuse("its data are damaged");
    }
}

}  // namespace

DecodedPicture decode_webp(const EncodedPicture& file) {
    WebPDecoderConfig config;
    if (WebPInitDecoderConfig(&config) == 0) file.refuse("libwebp has another version than its header");
    check(file, WebPGetFeatures(file.data(), file.bytes.size(), &config.input));
    if (config.input.has_animation != 0) file.refuse("it is an animation");
    DecodedPicture made{file.canvas(config.input.width, config.input.height), exif_orientation(exif(file))};
    config.output.colorspace = MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = {made.picture.rgb.data(), 3 * made.picture.width, made.picture.rgb.size()};
    check(file, WebPDecode(file.data(), file.bytes.size(), &config));
    return made;
}

}  // namespace vkf
