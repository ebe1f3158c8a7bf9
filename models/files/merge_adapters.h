// Adapters made part of the weights that they stand beside.
#pragma once

#include <vector>

#include "base/safetensors.h"
#include "models/files/stored_weights.h"
#include "models/model_config.h"

namespace vkf {

/// The tensors of a whole model that computes what this one with adapters does: W + s·B·A where there is an adapter,
/// summed in double. They are in F32, under our names, and read from the two files, which outlive them, as they are
/// written; writing a number that is not finite throws NotFinite. Throws InputError if a file does not fit the
/// configuration, or if the model rounds what an adapter would be added to.
std::vector<TensorSource> merged_weights(const ModelConfig& model, const StoredWeights& base,
                                         const StoredWeights& adapters);

}  // namespace vkf
