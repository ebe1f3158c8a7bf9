// --config FILE.toml: options from a file, under their names on the command line, which has the last word.
#pragma once

#include <string>
#include <vector>

namespace vkf {

/// The arguments with every `--config FILE` replaced by the options that the file holds, put before all others; a run
/// that is resumed starts from the configuration in its --out-dir. Throws InputError if a file cannot be read as TOML.
std::vector<std::string> expand_config(std::vector<std::string> args);

}  // namespace vkf
