// The decoders behind models/images/codecs/decode.h, one for each kind of file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "models/images/codecs/picture.h"

namespace vkf {

/// A file of one kind, as a decoder gets it.
struct EncodedPicture {
    std::span<const std::byte> bytes;
    const std::string& name;
    PictureLimits limits;
    std::string_view kind;  // "PNG", for messages

    const std::uint8_t* data() const { return reinterpret_cast<const std::uint8_t*>(bytes.data()); }

    /// A black picture of the size that the file's header gives.
    /// Throws: InputError if it is larger than allowed.
    Picture canvas(std::int64_t width, std::int64_t height) const;
    /// Throw InputError: because the file ends too early; because of the decoder's reason, which may quote the file.
    [[noreturn]] void refuse_short() const;
    [[noreturn]] void refuse(std::string_view reason) const;
};

/// Pixels as stored in the file, and their orientation: a value of Exif's Orientation, 1 to 8.
struct DecodedPicture {
    Picture picture;
    int orientation = 1;
};

/// Throw: as decode_picture.
DecodedPicture decode_png(const EncodedPicture& file);
DecodedPicture decode_jpeg(const EncodedPicture& file);
DecodedPicture decode_webp(const EncodedPicture& file);

}  // namespace vkf
