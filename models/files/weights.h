// Transfer of a model's parameters between its directory's model.safetensors and the device.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/safetensors.h"
#include "models/families/family.h"
#include "models/files/stored_weights.h"
#include "models/scope.h"
#include "program/state.h"

namespace vkf {

/// Names of the parameters in the file, in the parameters' order; for a parameter that is stored in parts, the names of
/// all parts, whose rows follow each other. Throws one InputError naming the file and all tensors that are missing,
/// extra, misshapen, of another kind than F32, F16 and BF16, or different from the tensors they should be copies of.
std::vector<std::vector<std::string>> stored_names(const StoredWeights& file, std::span<const Parameter> parameters,
                                                   const TensorNames& names = {});

/// Reads a parameter's numbers from all of its parts.
std::vector<float> read_parts(const StoredWeights& file, std::span<const std::string> parts);

/// Reads every parameter from F32, F16 or BF16 tensors with our names or those of other programs, in one file or in
/// several (stored_weights.h). Throws as stored_names does.
void load_weights(const std::filesystem::path& file, std::span<const Parameter> parameters, State& state,
                  const TensorNames& names = {});

/// Reads the weights of a model of another family, with which a fresh model begins. Its heads keep their values unless
/// the file has them, too. Throws as stored_names does.
void load_pretrained(const std::filesystem::path& file, std::span<const Parameter> parameters, State& state,
                     const PretrainedFamily& from);

/// Error of a number that is not finite, if training cannot continue with it, or a checkpoint would store it.
struct NotFinite : Error {
    using Error::Error;
};

/// Writes a tensor's floats. Throws NotFinite naming it if one is not finite.
void write_finite(FileWriter& file, const std::string& name, std::span<const float> values, const Shape& shape,
                  StoredType type);

/// First number of the states that is not finite, as "NAME: element i of shape s is nan"; else empty.
std::string find_non_finite(const State& state, std::span<const std::string> names);

/// Reads a state that state_sources wrote; its shape is that of the file's tensor. Throws InputError naming both if the
/// file has another kind of number.
void load_state(const Safetensors& file, const std::string& name, State& state);

/// Sources that fetch states from the device one at a time, for write_safetensors: f32 states in `type`, 16-bit and i32
/// states in their own type. Writing a state with a number that is not finite throws NotFinite.
std::vector<TensorSource> state_sources(const State& state, std::span<const std::string> names,
                                        StoredType type = StoredType::F32);

}  // namespace vkf
