// How a directory of pictures in folders is laid out: which folders are classes, and which are splits of them.
#pragma once

#include <filesystem>

#include "models/data/picture_files.h"

namespace vkf {

/// Directories with a folder per class.
struct ImageLayout {
    bool split = false;                      // else `train` has the folders of all pictures
    std::filesystem::path train, val, test;  // the latter two are empty without a split for them
};

/// Finds the splits of a directory: train or training; val, valid or validation; test or testing; or one of these with
/// _set, in any case. A folder of such a name that has pictures of its own is a class.
/// A single folder that holds everything, as archives have it, is looked into. Folders beside the splits are counted.
/// Throws: InputError if a folder cannot be read.
ImageLayout image_layout(const std::filesystem::path& directory, PassedOver& passed_over);

}  // namespace vkf
