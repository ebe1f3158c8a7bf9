// The checksum that published files have.
#pragma once

#include <filesystem>
#include <string>

#include "base/subprocess.h"

namespace vkf {

/// A file's MD5 in hexadecimal: by the program md5sum, on Windows by its library.
/// Throws: Error if md5sum is missing, the file cannot be read, or `go_on` ended it.
std::string md5_of(const std::filesystem::path& path, const GoOn& go_on = {});

}  // namespace vkf
