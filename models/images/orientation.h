// How a picture is to be turned, by what its camera noted: the tag Orientation of Exif.
#pragma once

#include <cstddef>
#include <span>

#include "models/images/picture.h"

namespace vkf {

/// The value 1 to 8 of the tag in an Exif block, which begins with its TIFF header or with "Exif" and two zeros before
/// it. A block without the tag, with another value or with damage means 1: as the pixels lie.
int exif_orientation(std::span<const std::byte> exif);

/// Turns and mirrors a picture as PIL.ImageOps.exif_transpose does for a value 1 to 8.
Picture upright(Picture picture, int orientation);

}  // namespace vkf
