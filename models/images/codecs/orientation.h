// Orientation of a picture, as its camera noted it in Exif's tag Orientation.
#pragma once

#include <cstddef>
#include <span>

#include "models/images/codecs/picture.h"

namespace vkf {

/// Value 1 to 8 of the tag in an Exif block, which begins with its TIFF header or with "Exif" and two zeros before it.
/// A block without the tag, with another value or with damage gives 1: pixels as stored.
int exif_orientation(std::span<const std::byte> exif);

/// Turns and mirrors a picture as PIL.ImageOps.exif_transpose does for a value 1 to 8.
Picture upright(Picture picture, int orientation);

}  // namespace vkf
