// Position tables for images of another size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "models/config/model_config.h"
#include "program/state.h"

namespace vkf {

/// A table of positions for a grid of `side` · `side` patches, from one for another grid. The first row, the class
/// token's, stays. The others are resampled as a picture of `width` channels: PyTorch's interpolate with
/// mode="bicubic" and align_corners=False, the cubic kernel with a = −0.75 at (i + 1/2) · old side / side − 1/2, with
/// rows at the border repeated and without averaging where the grid becomes smaller.
/// Shapes: table [1 + n · n, width] → [1 + side · side, width].
/// Numerics: double, rounded once.
std::vector<float> resized_positions(std::span<const float> table, std::int64_t width, std::int64_t side);

/// Reads the weights of an image model's directory into the states of `model`, the same model for images of any size;
/// its table of positions is resampled if the size differs. Throws InputError as load_weights does.
void load_for_size(const std::filesystem::path& directory, const ModelConfig& model, State& state);

}  // namespace vkf
