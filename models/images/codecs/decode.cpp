#include "models/images/codecs/decode.h"

#include <algorithm>
#include <climits>
#include <cstring>

#include "base/error.h"
#include "models/images/codecs/codecs.h"
#include "models/images/codecs/orientation.h"

namespace vkf {
namespace {

/// True if the characters are at that position.
bool holds(std::span<const std::byte> bytes, std::size_t at, std::string_view wanted) {
    return bytes.size() >= at + wanted.size() && std::memcmp(bytes.data() + at, wanted.data(), wanted.size()) == 0;
}

DecodedPicture decode(std::span<const std::byte> bytes, const std::string& name, const PictureLimits& limits) {
    if (holds(bytes, 0, "\x89PNG\r\n\x1a\n")) return decode_png({bytes, name, limits, "PNG"});
    if (holds(bytes, 0, "\xff\xd8\xff")) return decode_jpeg({bytes, name, limits, "JPEG"});
    if (holds(bytes, 0, "RIFF") && holds(bytes, 8, "WEBP")) return decode_webp({bytes, name, limits, "WebP"});
    throw InputError(name, ": is no PNG, JPEG or WebP image");
}

}  // namespace

Picture EncodedPicture::canvas(std::int64_t width, std::int64_t height) const {
    require(width >= 1 && height >= 1 && std::max(width, height) <= limits.side, name, ": is ", width, 'x', height,
            " pixels, wanted sides of 1 to ", limits.side);
    require(width * height <= limits.pixels, name, ": is ", width, 'x', height, " pixels, wanted at most ",
            limits.pixels, " in all (--max-pixels)");
    return {static_cast<int>(width), static_cast<int>(height),
            std::vector<std::uint8_t>(3 * static_cast<std::size_t>(width * height))};
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

Picture decode_picture(std::span<const std::byte> bytes, const std::string& name, const PictureLimits& limits) {
    require(!bytes.empty() && bytes.size() <= INT_MAX, name, ": ", bytes.size(),
            " bytes, wanted a PNG, JPEG or WebP image");
    DecodedPicture decoded = decode(bytes, name, limits);
    return upright(std::move(decoded.picture), decoded.orientation);
}

}  // namespace vkf
