// Single image files: PNG, JPEG and WebP into images, images into PNG.
#pragma once

#include <cstdint>
#include <filesystem>

#include "models/images/image.h"
#include "models/images/picture.h"
#include "models/images/resize.h"

namespace vkf {

/// Reads a file to RGB with 8 bits, turned as its camera noted (models/images/decode.h).
/// Throws: InputError naming the file if it cannot be read or decoded, has more pixels than `max_pixels` or a side of
/// more than Image::longest_side.
Image read_image(const std::filesystem::path& path, std::int64_t max_pixels = DEFAULT_MAX_PIXELS);

/// The same, brought to a square (models/images/resize.h). The file's own sides may be longer.
/// Throws: as read_image; InputError unless 1 ≤ side ≤ Image::longest_side and the fit allows it.
Image read_square_image(const std::filesystem::path& path, int side, std::int64_t max_pixels = DEFAULT_MAX_PIXELS,
                        const ImageFit& fit = {});

/// Replaces a file by the image as PNG, or leaves it untouched (base/file.h, write_atomically).
/// Throws: Error naming path and reason.
void write_png(const std::filesystem::path& path, const Image& image);

}  // namespace vkf
