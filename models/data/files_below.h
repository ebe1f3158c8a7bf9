// Lists the files of a directory and of its subdirectories.
#pragma once

#include <filesystem>
#include <vector>

namespace vkf {

/// All regular files below a directory, in the order of their paths, except those whose name, or the name of a folder
/// on the way, starts with '.'. Throws: InputError naming the directory if it cannot be read.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& directory);

}  // namespace vkf
