// Opening files, for os_file_posix.cpp and os_folder_posix.cpp.
#pragma once

#include <fcntl.h>

#include "base/files/os_file.h"

namespace vkf::os {

inline int flags_of(Open how) {
    switch (how) {
        case Open::read:
            return O_RDONLY | O_CLOEXEC;
        case Open::read_at_once:
            return O_RDONLY | O_NONBLOCK | O_CLOEXEC;
        case Open::write:
            return O_WRONLY | O_CLOEXEC;
        case Open::append:
            return O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
        case Open::create:
            return O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    }
    return -1;
}

/// File::locked by a name in an open folder, or by a path if `folder` is AT_FDCWD.
File locked_at(int folder, const char* name);

}  // namespace vkf::os
