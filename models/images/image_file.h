// Single image files: PNG and JPEG into images, images into PNG.
#pragma once

#include <filesystem>

#include "models/images/image.h"

namespace vkf {

/// Decodes a PNG or JPEG file to RGB with 8 bits: grey is spread over the three channels, an alpha channel is dropped.
/// Throws: InputError naming the file if it cannot be read, is damaged, is another kind of file or has a side of more
/// than Image::longest_side; Error without memory for it.
Image read_image(const std::filesystem::path& path);

/// The same, brought to a square: the middle square is cut out and resized, unless the image is one of that side
/// already. The file's own sides may be up to 32768.
/// Throws: as read_image; InputError unless 1 ≤ side ≤ Image::longest_side.
Image read_square_image(const std::filesystem::path& path, int side);

/// Replaces a file by the image as PNG, or leaves it untouched (base/file.h, write_atomically).
/// Throws: Error naming path and reason.
void write_png(const std::filesystem::path& path, const Image& image);

}  // namespace vkf
