// Reading files of a directory into which a process publishes (base/files/managed_directory.h). A set of files is
// published when its folder is renamed to .saved; then the files are moved into place, one by one. A reader takes a
// file from that folder as long as it is there, and so sees the whole set at any moment, even if a kill left it half
// moved. Readers change nothing. MappedFile and read_text use these functions.
#pragma once

#include <filesystem>
#include <vector>

#include "base/files/os_file.h"

namespace vkf {

/// Names in a managed directory: the folder in which a set is written, the folder of a published set, and in the latter
/// the list of the files that the set removes, one per line, relative to the directory.
inline constexpr const char *saving_folder = ".saving", *saved_folder = ".saved", *obsolete_list = ".obsolete";

/// Folder of a path's last name: "." for a name alone.
inline std::filesystem::path folder_of(const std::filesystem::path& path) {
    return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// Returns the file's present path: in the set that waits in its directory, or `path`. For a file that the set removes,
/// it is a path at which there is no file.
std::filesystem::path published(const std::filesystem::path& path);

/// Opens the file at its present path, even if it is being moved. Not valid on failure, with the reason in errno.
os::File open_published(const std::filesystem::path& path, os::Open how);

/// True if the file exists, of any kind; a link is followed.
bool file_exists(const std::filesystem::path& path);

/// Names of all regular files in a directory, sorted; none if it cannot be listed.
std::vector<std::filesystem::path> published_names(const std::filesystem::path& directory);

/// Names in the list of files that a set removes; none without a list.
std::vector<std::filesystem::path> obsolete_names(const os::File& list);

}  // namespace vkf
