// Folders of PNG and JPEG files, one folder per class.
#pragma once

#include <cstddef>
#include <filesystem>

#include "models/data/image_set.h"

namespace vkf {

/// Decodes a directory of class folders into memory; classes are numbered in the order of their folders' names.
///
///     DIR/CLASS/…/*.png, *.jpg, *.jpeg          the last tenth of each class, in the order of names, is for testing
///     DIR/train/CLASS/…, DIR/test|val/CLASS/…    as the folders say, the same classes in both
///
/// With a side of 0 all images must be squares of one size; otherwise the middle square of each is cut out and resized.
/// Images become RGB with 8 bits: grey is spread over the three channels, an alpha channel is dropped. Names that start
/// with '.' and other kinds of files are passed over.
/// Throws: InputError if there are no classes, a class has no image, or an image cannot be read or has another size.
ImageSet open_image_folder(const std::filesystem::path& directory, std::size_t side = 0);

/// Whether every folder in a directory, or in its train/, holds an image.
bool holds_class_folders(const std::filesystem::path& directory);

}  // namespace vkf
