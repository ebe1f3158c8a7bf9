// Folders of PNG, JPEG and WebP files, one folder per class.
#pragma once

#include <filesystem>

#include "models/data/image_set.h"

namespace vkf {

/// Decodes a directory of class folders into memory; classes are numbered in the order of their folders' names.
///
///     DIR/CLASS/…/*.png, *.jpg, *.webp, …        the last tenth of each class, in the order of names, is for testing
///     DIR/train/CLASS/…, DIR/test|val/CLASS/…    as the folders say, the same classes in all; of both val and test
///     (models/data/image_layout.h)               the former is for testing and the latter held out
///
/// The classes of Tiny-ImageNet's validation are those of its val_annotations.txt; a test that says no classes is
/// passed over. With a side of 0 all images must be squares of one size; otherwise each is brought to a square
/// (models/images/resize.h). Images become RGB with 8 bits (models/images/decode.h). What is no picture that is read is
/// counted in the set's `passed_over`, unless its name starts with '.' (models/data/picture_files.h).
/// Throws: InputError if there are no classes, a class has no image, or an image cannot be read or has another size.
ImageSet open_image_folder(const std::filesystem::path& directory, const ImageOptions& options = {});

/// Whether every folder in a directory, or in its training split, holds an image.
bool holds_class_folders(const std::filesystem::path& directory);

}  // namespace vkf
