// The files of a directory and of those in it.
#pragma once

#include <filesystem>
#include <vector>

namespace vkf {

/// All regular files below a directory in the order of their paths, but for those whose name, or a folder's on the way,
/// starts with '.'. Throws: InputError naming the directory if it cannot be read.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& directory);

}  // namespace vkf
