// Reads config.json of timm, in Hugging Face's keys.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace vkf {

class ConfigKeys;

/// True if a config.json is timm's: it has an "architecture" and no "model_type".
bool is_timm_config(const ConfigKeys& keys);

/// The model as config.json of a ViTForImageClassification. timm's file has a name, whose sizes timm's code defines:
///
///     vit|deit_tiny|small|base|large|huge_patchP_S    width, blocks and heads of that size, patches P, images S
///     model_args       instead of these: img_size, patch_size, in_chans, embed_dim, depth, num_heads, mlp_ratio,
///                      qkv_bias
///     pretrained_cfg   input_size: channels, height and width
///     num_classes, label_names
///
/// Throws InputError naming file, key and value for other architectures, means of tokens (global_pool), and arguments
/// that change the model in other ways.
nlohmann::json timm_model(const ConfigKeys& keys);

/// Settings of pictures in "pretrained_cfg" as preprocessor_config.json (image_processor.h): interpolation, crop_pct,
/// crop_mode (center or squash), mean, std; timm's defaults for missing keys. Throws InputError.
nlohmann::json timm_image_processor(const ConfigKeys& keys);

}  // namespace vkf
