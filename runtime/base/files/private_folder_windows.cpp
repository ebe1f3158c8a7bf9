#include "base/files/private_folder.h"

namespace vkf {

FolderOwner make_private_folder(const std::filesystem::path& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    return std::filesystem::is_directory(path, error) ? FolderOwner::ours : FolderOwner::missing;
}

}  // namespace vkf
