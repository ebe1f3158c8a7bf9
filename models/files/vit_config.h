// config.json of a vision transformer's model directory, in Hugging Face's keys.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "models/vit.h"

namespace vkf {

/// Keys of ours besides head_dim: "shifted_patch_tokenization": "cardinal" or "diagonal",
/// "locality_self_attention": "per_layer" or "per_head"; absent where not used. Throws InputError naming file, key,
/// value found and value wanted.
VitConfig read_vit_config(const std::filesystem::path& path);
std::string vit_config_text(const VitConfig& config);

/// The words of the two keys, "none" among them. Throw InputError naming the word and those there are.
PatchShift patch_shift_named(const std::string& name);
Locality locality_named(const std::string& name);
std::string_view name_of(PatchShift shift);
std::string_view name_of(Locality locality);

}  // namespace vkf
