// Files of pictures in folders, and what lies there besides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace vkf {

/// How many files were left out of each kind: by the ending of their names, ".bmp", or by a reason. A map from what was
/// left out to how often.
using PassedOver = std::map<std::string, std::size_t>;

void add(PassedOver& to, const PassedOver& more);

/// "7 files (4 .bmp, 2 .txt, 1 without an ending)": the most frequent kinds first, at most six of them. Empty for none.
std::string passed_over_text(const PassedOver& passed_over);

/// Whether a name ends as those of pictures that are read do: .png, .jpg, .jpeg, .jpe, .jfif or .webp, in any case.
bool is_picture_name(const std::filesystem::path& path);

/// Pictures anywhere below a folder, in the order of their paths; no more than `most`. Names that start with '.' are
/// none. Links are followed, but no folder is entered twice, nor one that the search began in or that is above it. What
/// is not read is counted.
/// Throws: InputError naming a folder that cannot be read.
std::vector<std::filesystem::path> picture_files(const std::filesystem::path& folder, PassedOver& passed_over,
                                                 std::size_t most = SIZE_MAX);

/// Folders directly in a directory, in the order of their names, but for those whose names start with '.' and for links
/// to the directory itself or above it. Pictures beside them are counted.
/// Throws: as picture_files.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& directory, PassedOver& passed_over);

/// Whether there is a picture directly in a folder. Throws: as picture_files.
bool has_pictures(const std::filesystem::path& folder);

}  // namespace vkf
