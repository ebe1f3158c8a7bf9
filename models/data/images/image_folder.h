// Folders of PNG, JPEG and WebP files, one folder per class.
#pragma once

#include <filesystem>

#include "models/data/images/image_set.h"

namespace vkf {

/// Opens a directory of class folders; classes are numbered in the order of their folders' names.
///
///     DIR/CLASS/…/*.png, *.jpg, *.webp, …        the last tenth of each class, in the order of names, is for testing
///     DIR/train/CLASS/…, DIR/test|val/CLASS/…    splits as the folders say, with the same classes; if there are both
///     (models/data/images/image_layout.h)        val and test, val is for testing and test is held out
///
/// Tiny-ImageNet's validation split takes its classes from its val_annotations.txt; a test split without classes is
/// skipped. With a side of 0 all images must be squares of one size; otherwise each is fitted to a square
/// (models/images/resize.h). Images become RGB with 8 bits (models/images/codecs/decode.h). They are decoded into
/// memory if they take no more than the options allow; if not, they stay in their files (Images), and so do training
/// images that stay whole. Files that are not read as pictures are counted in the set's `passed_over`, unless their
/// names start with '.' (models/data/images/picture_files.h). Throws: InputError if there are no classes, a class has
/// no image, or an image that is decoded cannot be read or has another size.
ImageSet open_image_folder(const std::filesystem::path& directory, const ImageOptions& options = {});

/// True if there are folders in a directory, or in its training split, and each of them holds an image.
bool holds_class_folders(const std::filesystem::path& directory);

}  // namespace vkf
