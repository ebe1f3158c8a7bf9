// Folders that nobody else can put something into: what the program keeps there is handed to drivers as code.
#pragma once

#include <filesystem>
#include <optional>

namespace vkf {

/// ours: the user owns it, and nobody else may write into it. foreign: it is there, and that does not hold. missing:
/// there is none, and it cannot be made.
enum class FolderOwner { ours, foreign, missing };

/// Makes the folder if it is missing, for the user alone (mode 0700 on POSIX), and says whose it is. On Windows a
/// folder that is there counts as the user's, as folders below the user's own are.
FolderOwner make_private_folder(const std::filesystem::path& path);

/// The program's cache (cache_folder in base/file.h), made if missing; nothing unless it is ours.
std::optional<std::filesystem::path> private_cache_folder();

}  // namespace vkf
