// A model's parameters between its directory's model.safetensors and the device.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/safetensors.h"
#include "models/family.h"
#include "models/files/stored_weights.h"
#include "models/scope.h"
#include "program/state.h"

namespace vkf {

/// Names of the parameters in the file, in the parameters' order; several for a parameter that is stored in parts,
/// whose rows are concatenated. Throws one InputError naming the file and all tensors that are missing, extra,
/// misshapen or not F32, F16 or BF16.
std::vector<std::vector<std::string>> stored_names(const StoredWeights& file, std::span<const Parameter> parameters,
                                                   const TensorNames& names = {});

/// Reads a parameter from its parts.
std::vector<float> read_parts(const StoredWeights& file, std::span<const std::string> parts);

/// Reads every parameter from F32, F16 or BF16 tensors called as ours, or as other programs call them, in the file or
/// in several (stored_weights.h). Throws as stored_names does.
void load_weights(const std::filesystem::path& file, std::span<const Parameter> parameters, State& state,
                  const TensorNames& names = {});

/// A number that is not finite where training cannot go on from it, or a checkpoint would keep it.
struct NotFinite : Error {
    using Error::Error;
};

/// Writes a tensor's floats. Throws NotFinite naming it if one is not finite.
void write_finite(FileWriter& file, const std::string& name, std::span<const float> values, const Shape& shape,
                  StoredType type);

/// The first of the states that holds a number that is not finite, as "NAME: element i of shape s is nan"; else empty.
std::string find_non_finite(const State& state, std::span<const std::string> names);

/// Reads a state back that state_sources wrote; its shape is that of the file's tensor. Throws InputError naming both
/// if the file has another kind of number.
void load_state(const Safetensors& file, const std::string& name, State& state);

/// Sources that fetch states from the device one at a time, for write_safetensors: of f32 in `type`, of 16 bits and of
/// i32 as what they are. Writing one whose numbers are not all finite throws NotFinite.
std::vector<TensorSource> state_sources(const State& state, std::span<const std::string> names,
                                        StoredType type = StoredType::F32);

}  // namespace vkf
