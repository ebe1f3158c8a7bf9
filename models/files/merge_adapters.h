// Merges adapters into the weights that they adapt.
#pragma once

#include <vector>

#include "base/files/safetensors.h"
#include "models/config/model_config.h"
#include "models/files/stored_weights.h"

namespace vkf {

/// Tensors of a whole model that computes the same as this one with adapters: W + s·B·A where there is an adapter,
/// summed in double. They are F32, have our names, and are read from the two files, which must outlive them, while they
/// are written; writing a number that is not finite throws NotFinite. Throws InputError if a file does not fit the
/// configuration, or if the model rounds weights to which an adapter would be added.
std::vector<TensorSource> merged_weights(const ModelConfig& model, const StoredWeights& base,
                                         const StoredWeights& adapters);

}  // namespace vkf
