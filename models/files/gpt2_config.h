// config.json of a GPT-2 model directory, in Hugging Face's keys.
#pragma once

#include <filesystem>
#include <string>

#include "models/gpt2.h"

namespace vkf {

/// Throws InputError naming file, key, value found and value wanted.
Gpt2Config read_gpt2_config(const std::filesystem::path& path);
/// The file's text; keys that other programs expect are included.
std::string gpt2_config_text(const Gpt2Config& config);

}  // namespace vkf
