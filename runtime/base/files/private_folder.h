// Folders into which no other user can write: their files are given to drivers as code.
#pragma once

#include <filesystem>
#include <optional>

namespace vkf {

/// ours: the user owns the folder, and no other user may write into it. foreign: the folder exists, but is not ours.
/// missing: the folder does not exist and cannot be made.
enum class FolderOwner { ours, foreign, missing };

/// Makes the folder if it is missing, for the user alone (mode 0700 on POSIX), and returns its owner. On Windows an
/// existing folder counts as the user's, as folders below the user's own are.
FolderOwner make_private_folder(const std::filesystem::path& path);

/// The program's cache (cache_folder in base/files/file.h), made if missing; nothing unless it is ours.
std::optional<std::filesystem::path> private_cache_folder();

}  // namespace vkf
