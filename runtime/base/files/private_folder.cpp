#include "base/files/private_folder.h"

#include "base/files/file.h"

namespace vkf {

std::optional<std::filesystem::path> private_cache_folder() {
    const std::optional<std::filesystem::path> folder = cache_folder();
    return folder && make_private_folder(*folder) == FolderOwner::ours ? folder : std::nullopt;
}

}  // namespace vkf
