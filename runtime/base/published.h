// Files as readers find them in a directory into which somebody publishes (base/managed_directory.h). A set of files is
// published when its folder is called .saved; then they are moved into place, one by one. A reader takes a file from
// that folder as long as it is there, and so sees the whole set at any moment, also where a kill left it half moved.
// Readers change nothing. MappedFile and read_text look here by themselves.
#pragma once

#include <filesystem>
#include <vector>

#include "base/os_file.h"

namespace vkf {

/// In a managed directory: the folder in which a set is written, and what it is called once it is published; and in the
/// latter the list of the files that go when the set comes, a line each, relative to the directory.
inline constexpr const char *saving_folder = ".saving", *saved_folder = ".saved", *obsolete_list = ".obsolete";

/// Returns the file's present place: in the set that waits in its directory, or where the path says. A file that goes
/// when the set comes gets a path at which there is none.
std::filesystem::path published(const std::filesystem::path& path);

/// Opens the file where it is, also if it is moved at this moment. Not valid on failure, with the reason in errno.
os::File open_published(const std::filesystem::path& path, os::Open how);

/// Tells if there is such a file, whatever kind it is; a link is followed.
bool file_exists(const std::filesystem::path& path);

/// The names of all regular files in a directory, sorted; none where it cannot be listed.
std::vector<std::filesystem::path> published_names(const std::filesystem::path& directory);

/// The names in an open folder's list of files that go; none without a list.
std::vector<std::filesystem::path> obsolete_names(const os::File& list);

}  // namespace vkf
