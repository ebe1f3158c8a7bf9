// A directory of low-rank adapters, in the layout of Hugging Face's PEFT:
//
//     adapter_config.json            what they stand beside, and where that model is
//     adapter_model.safetensors      base_model.model.PATH.lora_A.weight [rank, in] and lora_B.weight [out, rank]
//
// where PATH is a linear map's by Hugging Face's names: transformer.h.0.attn.c_attn, model.layers.0.self_attn.q_proj.
#pragma once

#include <filesystem>
#include <string>

#include "models/family.h"

namespace vkf {

inline constexpr const char *adapter_config_file = "adapter_config.json",
                            *adapter_weights_file = "adapter_model.safetensors";

struct AdapterConfig {
    LoraConfig lora;
    std::string base;      // base_model_name_or_path
    float dropout = 0.0f;  // lora_dropout, which matters to training only
};

/// Throws InputError naming file, key and value if the adapters are of another kind, or ask for more than LoraConfig.
AdapterConfig read_adapter_config(const std::filesystem::path& file);

/// The file's text, for adapters of this model, which lies at `base`.
std::string adapter_config_text(const ModelConfig& model, const std::string& base);

/// What stands before a parameter's name in adapter_model.safetensors.
std::string adapter_prefix(const Family& family);

}  // namespace vkf
