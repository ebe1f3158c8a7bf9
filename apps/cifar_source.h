// Where the official CIFAR files come from: this machine or their official address.
#pragma once

#include <filesystem>
#include <string>

#include "apps/common.h"
#include "models/data/cifar.h"

namespace vkf {

/// Puts the official files into a directory, all or none, and returns where they came from. If it holds other data, a
/// model or a run, `overwrite` says that they go. Looks in the directory itself, then in the data folders
/// (models/data/corpus.h) for the archive or the files, plain or as .xz, then downloads the archive; what has arrived
/// when a download ends early stays in DIR/ARCHIVE.part and is gone on from. Sizes, checksums and class balance are
/// verified before anything gets its name.
/// Throws: InputError naming a local file that is not the official one, or one that would be replaced unasked; Error if
/// a program is missing or fails; Interrupted.
std::string fetch_cifar(const Common& common, const CifarFormat& format, const std::filesystem::path& out,
                        bool overwrite);

}  // namespace vkf
