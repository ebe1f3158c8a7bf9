// Layout of a directory of picture folders: which folders are classes, and which are splits.
#pragma once

#include <filesystem>

#include "models/data/images/picture_files.h"

namespace vkf {

/// Directories with one folder per class.
struct ImageLayout {
    bool split = false;                      // false: `train` has the folders of all pictures
    std::filesystem::path train, val, test;  // val and test are empty if there is no such split
};

/// Finds the splits of a directory: train or training; val, valid or validation; test or testing; or one of these with
/// _set, in any case. A folder with such a name that has pictures of its own is a class.
/// If a single folder holds everything, as in archives, that folder is searched. Folders next to the splits are
/// counted.
/// Throws: InputError if a folder cannot be read.
ImageLayout image_layout(const std::filesystem::path& directory, PassedOver& passed_over);

}  // namespace vkf
