// Which linear maps of a language model have adapters.
#pragma once

#include <string_view>
#include <vector>

#include "models/model_config.h"
#include "models/scope.h"

namespace vkf {

/// The target that stands for all of a model's linear maps; its head is none of them.
inline constexpr std::string_view all_linear = "all-linear";

/// What a language model of this configuration asks for, in a graph of a single token.
Parameters parameters_of(const ModelConfig& model);

/// The model with these adapters; without targets, PEFT's for the family. Throws InputError naming the target that is
/// none of its linear maps, and those.
ModelConfig with_adapters(ModelConfig model, LoraConfig adapters);

}  // namespace vkf
