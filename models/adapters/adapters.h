// Choice of the linear maps of a language model that have adapters.
#pragma once

#include <string_view>
#include <vector>

#include "models/config/model_config.h"
#include "models/scope.h"

namespace vkf {

/// Target that stands for all linear maps of a model; the head is not one of them.
inline constexpr std::string_view all_linear = "all-linear";

/// Parameters of a language model of this configuration, from a graph of a single token.
Parameters parameters_of(const ModelConfig& model);

/// Returns the model with these adapters; without targets, with PEFT's targets for the family. Throws InputError naming
/// a target that is not a linear map of the model, and the linear maps.
ModelConfig with_adapters(ModelConfig model, LoraConfig adapters);

}  // namespace vkf
