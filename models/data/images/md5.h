// Checksum of published files.
#pragma once

#include <filesystem>
#include <string>

#include "base/os/subprocess.h"

namespace vkf {

/// MD5 of a file in hexadecimal, computed by the program md5sum, on Windows by its library.
/// Throws: Error if md5sum is missing, the file cannot be read, or `go_on` ended it.
std::string md5_of(const std::filesystem::path& path, const GoOn& go_on = {});

}  // namespace vkf
