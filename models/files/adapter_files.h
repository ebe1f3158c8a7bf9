// A directory of low-rank adapters, in the layout of Hugging Face's PEFT:
//
//     adapter_config.json            the adapted linear maps, and the place of their model
//     adapter_model.safetensors      base_model.model.PATH.lora_A.weight [rank, in] and lora_B.weight [out, rank]
//
// PATH is a linear map's in Hugging Face's names: transformer.h.0.attn.c_attn, model.layers.0.self_attn.q_proj.
#pragma once

#include <filesystem>
#include <string>

#include "models/families/family.h"

namespace vkf {

inline constexpr const char *adapter_config_file = "adapter_config.json",
                            *adapter_weights_file = "adapter_model.safetensors";

struct AdapterConfig {
    LoraConfig lora;
    std::string base;      // base_model_name_or_path
    float dropout = 0.0f;  // lora_dropout, for training only
};

/// Reads adapter_config.json. Throws InputError naming file, key and value if the adapters are of another kind, or need
/// more than LoraConfig has.
AdapterConfig read_adapter_config(const std::filesystem::path& file);

/// Text of adapter_config.json for adapters of this model, which is at `base`.
std::string adapter_config_text(const ModelConfig& model, const std::string& base);

/// Prefix of parameter names in adapter_model.safetensors.
std::string adapter_prefix(const Family& family);

}  // namespace vkf
