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

/// gelu_new, gelu, relu or silu. Throws InputError naming the word and those there are.
Activation activation_named(const std::string& name);

/// "gpt2", "vit" or "llama", as config.json says. Throws InputError.
std::string read_model_type(const std::filesystem::path& path);

}  // namespace vkf
