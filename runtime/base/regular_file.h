// Files that stand where somebody else put them: not everything by such a name is a file.
#pragma once

#include <filesystem>

#include "base/os_file.h"

namespace vkf::os {

/// Whether a symbolic link may stand for a file. Where it may not, opening one fails (not on Windows, where it is
/// followed).
enum class Links { followed, refused };

/// Opens a file for reading and never waits for it: of a pipe, opening alone would wait for a writer. Not valid if it
/// cannot be opened; the reason is in errno.
File open_at_once(const std::filesystem::path& path, Links links = Links::followed);

}  // namespace vkf::os
