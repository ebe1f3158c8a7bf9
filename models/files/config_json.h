// config.json: a model's configuration in Hugging Face's keys, read and written by the fields of its family.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "models/config/model_config.h"

namespace vkf {

/// Reads the family that the file's "model_type" names. Throws InputError.
const Family& read_family(const std::filesystem::path& path);

/// Reads config.json, also timm's (timm_config.h). Keys that no field has are ignored if they are known to change
/// nothing (other_keys.h). Throws InputError naming file, key, value found and value wanted, also if no such model can
/// be built.
ModelConfig read_config_json(const std::filesystem::path& path);
/// Parses the text of a config.json; errors call it `where`.
ModelConfig parse_config_json(std::string_view text, const std::string& where);

/// Text of config.json, with keys that other programs expect.
std::string config_json_text(const ModelConfig& config);

}  // namespace vkf
