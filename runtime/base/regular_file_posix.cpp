#include <fcntl.h>

#include "base/regular_file.h"

namespace vkf::os {

File open_at_once(const std::filesystem::path& path, Links links) {
    const int follow = links == Links::refused ? O_NOFOLLOW : 0;
    return File(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | follow));
}

}  // namespace vkf::os
