// Picture files in folders, and counts of the other files there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace vkf {

/// Number of skipped files of each kind, named by the ending, ".bmp", or by a reason.
using PassedOver = std::map<std::string, std::size_t>;

void add(PassedOver& passed_over, const PassedOver& more);

/// "7 files (4 .bmp, 2 .txt, 1 without an ending)": the most frequent kinds first, at most six of them. Empty for none.
std::string passed_over_text(const PassedOver& passed_over);

/// True if a name has the ending of a readable picture: .png, .jpg, .jpeg, .jpe, .jfif or .webp, in any case.
bool is_picture_name(const std::filesystem::path& path);

/// Pictures anywhere below a folder, in the order of their paths; at most `most`. Names that start with '.' are
/// skipped. Links are followed, but no folder is entered twice, and no link to the folder of the search or to one above
/// it is followed. Files that are not read are counted.
/// Throws: InputError naming a folder that cannot be read.
std::vector<std::filesystem::path> picture_files(const std::filesystem::path& folder, PassedOver& passed_over,
                                                 std::size_t most = SIZE_MAX);

/// Folders directly in a directory, in the order of their names, except those whose names start with '.' and links to
/// the directory itself or above it. Pictures next to the folders are counted.
/// Throws: as picture_files.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& directory, PassedOver& passed_over);

/// True if there is a picture directly in a folder. Throws: as picture_files.
bool has_pictures(const std::filesystem::path& folder);

}  // namespace vkf
