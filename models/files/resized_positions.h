// Weights of an image model for images of another size.
#pragma once

#include <filesystem>

#include "models/config/model_config.h"
#include "models/scope.h"
#include "program/state.h"

namespace vkf {

/// Reads the weights of an image model's directory into the states of `model`, the same model for images of any size;
/// its table of positions is resampled if the size differs. Throws InputError as load_weights does.
void load_for_size(const std::filesystem::path& directory, const ModelConfig& model, State& state);

/// Replaces tables of positions that training does not change by what remains of them after resampling to the grid of
/// images of `side` pixels and back. BeliefFormer's program does so around every epoch with images of that side.
void reduce_frozen_positions(const Parameters& parameters, const ModelConfig& model, std::int64_t side, State& state);

}  // namespace vkf
