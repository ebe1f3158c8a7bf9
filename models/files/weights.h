// A model's parameters between its directory's model.safetensors and the device.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/safetensors.h"
#include "models/scope.h"
#include "program/state.h"

namespace vkf {

/// Reads every parameter from F32, F16 or BF16 tensors called as ours, with or without `prefix` ("transformer.").
/// Throws one InputError naming the file and all tensors that are missing, extra, misshapen or of another kind.
void load_weights(const std::filesystem::path& file, std::span<const Parameter> parameters, const std::string& prefix,
                  State& state);

/// Sources that fetch states from the device one at a time, for write_safetensors.
std::vector<TensorSource> state_sources(const State& state, std::span<const std::string> names,
                                        StoredType type = StoredType::F32);

}  // namespace vkf
