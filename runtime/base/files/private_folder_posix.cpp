#include <sys/stat.h>
#include <unistd.h>

#include "base/files/private_folder.h"

namespace vkf {

FolderOwner make_private_folder(const std::filesystem::path& path) {
    std::error_code ignored;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
    ::mkdir(path.c_str(), S_IRWXU);
    struct stat found = {};
    if (::stat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return FolderOwner::missing;
    const bool others_write = found.st_mode & (S_IWGRP | S_IWOTH);
    return found.st_uid == ::geteuid() && !others_write ? FolderOwner::ours : FolderOwner::foreign;
}

}  // namespace vkf
