// config.json: a model's configuration in Hugging Face's keys, read and written by the fields of its family.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "models/model_config.h"

namespace vkf {

/// The family that the file's "model_type" names. Throws InputError.
const Family& read_family(const std::filesystem::path& path);

/// timm's files are read, too (timm_config.h). Keys that no field has are left alone where they are known to change
/// nothing (other_keys.h). Throws InputError naming file, key, value found and value wanted, also if no such model can
/// be built.
ModelConfig read_config_json(const std::filesystem::path& path);
/// The same of a file's text, which errors call `where`.
ModelConfig parse_config_json(std::string_view text, const std::string& where);

/// The file's text; keys that other programs expect are included.
std::string config_json_text(const ModelConfig& config);

}  // namespace vkf
