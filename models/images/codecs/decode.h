// Decodes PNG, JPEG and WebP pictures to pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "models/images/codecs/picture.h"

namespace vkf {

/// Decodes a whole picture file; its first bytes tell its kind.
///
/// The pixels are those of PIL's `ImageOps.exif_transpose(Image.open(file)).convert("RGB")`, with one exception: of 16
/// bits the upper 8 are kept, while PIL clips grey. Grey is copied to the three channels, palettes are looked up, an
/// alpha channel is dropped, CMYK is converted. Of a PNG with several pictures the first is used; a WebP with several
/// is refused.
///
/// Width and height are read first. In addition to the pixels, decoding takes at most the file's size and 8 bytes a
/// pixel.
/// Throws: InputError, which begins with `name`, if the file is of another kind, is damaged or cut short, or has more
/// pixels or longer sides than the limits allow.
Picture decode_picture(std::span<const std::byte> bytes, const std::string& name, const PictureLimits& limits = {});

}  // namespace vkf
