// Single image files: reads PNG, JPEG and WebP, writes PNG.
#pragma once

#include <cstdint>
#include <filesystem>

#include "models/images/codecs/picture.h"
#include "models/images/image.h"
#include "models/images/resize.h"

namespace vkf {

/// Reads a file as RGB with 8 bits, rotated as its camera noted (models/images/codecs/decode.h).
/// Throws: InputError naming the file if it cannot be read or decoded, has more pixels than `max_pixels` or a side
/// longer than Image::longest_side.
Image read_image(const std::filesystem::path& path, std::int64_t max_pixels = DEFAULT_MAX_PIXELS);

/// Reads a file and fits it to a square (models/images/resize.h). Its own sides may be longer than Image::longest_side.
/// Throws: as read_image; InputError unless 1 ≤ side ≤ Image::longest_side and the fit allows it.
Image read_square_image(const std::filesystem::path& path, int side, std::int64_t max_pixels = DEFAULT_MAX_PIXELS,
                        const ImageFit& fit = {});

/// Replaces a file by the image as PNG; on failure the file stays (base/files/file.h, write_atomically).
/// Throws: Error naming path and reason.
void write_png(const std::filesystem::path& path, const Image& image);

}  // namespace vkf
