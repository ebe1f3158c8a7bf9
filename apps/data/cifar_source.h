// Source of the official CIFAR files: this machine or their official address.
#pragma once

#include <filesystem>
#include <string>

#include "apps/cli/common.h"
#include "models/data/images/cifar.h"

namespace vkf {

/// Puts the official files into a directory, all or none, and returns their source. `overwrite` permits replacing other
/// data, a model or a run in the directory. Searches the directory itself, then the data folders
/// (models/data/data_paths.h) for the archive or the files, plain or as .xz, then downloads the archive; if a download
/// ends early, the received part stays in DIR/ARCHIVE.part and is continued. Sizes, checksums and class balance are
/// verified before any file gets its name. Throws: InputError naming a local file that is not the official one, or one
/// that `overwrite` does not permit to replace; Error if a program is missing or fails; Interrupted.
std::string fetch_cifar(const Common& common, const CifarFormat& format, const std::filesystem::path& out,
                        bool overwrite);

}  // namespace vkf
