// Files that a user names for output.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace vkf {

/// Throws InputError unless the file that `option` names can be written: its directory exists, and the command does not
/// read the file. An input is a file, a model directory, or a directory of data.
void require_output(const char* option, const std::string& output, const std::vector<std::filesystem::path>& inputs);

}  // namespace vkf
