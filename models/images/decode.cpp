#include "models/images/decode.h"

#include <algorithm>
#include <climits>
#include <cstring>

#include "base/error.h"
#include "models/images/codecs.h"
#include "models/images/orientation.h"

namespace vkf {
namespace {

constexpr std::uint64_t LONGEST_SIDE = 1'000'000;  // decoders keep whole rows beside the picture

/// Whether the characters stand at that place.
bool holds(std::span<const std::byte> bytes, std::size_t at, std::string_view wanted) {
    return bytes.size() >= at + wanted.size() && std::memcmp(bytes.data() + at, wanted.data(), wanted.size()) == 0;
}

DecodedPicture decode(std::span<const std::byte> bytes, const std::string& name, std::int64_t max_pixels) {
    if (holds(bytes, 0, "\x89PNG\r\n\x1a\n")) return decode_png({bytes, name, max_pixels, "PNG"});
    if (holds(bytes, 0, "\xff\xd8\xff")) return decode_jpeg({bytes, name, max_pixels, "JPEG"});
    if (holds(bytes, 0, "RIFF") && holds(bytes, 8, "WEBP")) return decode_webp({bytes, name, max_pixels, "WebP"});
    throw InputError(name, ": is no PNG, JPEG or WebP image");
}

}  // namespace

Picture EncodedPicture::canvas(std::uint64_t width, std::uint64_t height) const {
    require(width >= 1 && height >= 1 && width <= LONGEST_SIDE && height <= LONGEST_SIDE, name, ": is ", width, 'x',
            height, " pixels, wanted sides of 1 to ", LONGEST_SIDE);
    require(width * height <= static_cast<std::uint64_t>(std::max<std::int64_t>(max_pixels, 0)), name, ": is ", width,
            'x', height, " pixels, wanted at most ", max_pixels, " in all (--max-pixels)");
    return {static_cast<int>(width), static_cast<int>(height), std::vector<std::uint8_t>(3 * width * height)};
}

void EncodedPicture::refuse_short() const {
    throw InputError(name, ": is cut short, wanted a whole ", kind, " image");
}

void EncodedPicture::refuse(std::string_view reason) const {
    std::string shown(reason);
    std::ranges::replace_if(
        shown, [](char c) { return c < ' ' || c > '~'; }, '?');
    throw InputError(name, ": is no ", kind, " image that can be read (", shown, ")");
}

Picture decode_picture(std::span<const std::byte> bytes, const std::string& name, std::int64_t max_pixels) {
    require(!bytes.empty() && bytes.size() <= INT_MAX, name, ": ", bytes.size(),
            " bytes, wanted a PNG, JPEG or WebP image");
    DecodedPicture decoded = decode(bytes, name, max_pixels);
    return upright(std::move(decoded.picture), decoded.orientation);
}

}  // namespace vkf
