// Functions of all image models: logits and the loss.
#pragma once

#include <cstdint>

#include "models/families/family.h"

namespace vkf {

/// Type of a batch of images: f32 [batch, channels, side, side], of the model's side or, if it is above 0, of `side`.
TensorType image_type(const ModelConfig& config, std::int64_t batch, std::int64_t side = 0);

/// Logits [B, classes] of images f32 [B, channels, side, side], already normalised.
Tensor image_logits(const Scope& scope, const ModelConfig& config, Tensor images);

/// Mean cross-entropy of a micro-batch against weights of classes; declares its inputs `images` f32 [batch, channels,
/// side, side] and `targets` f32 [batch, classes]. Logits are an output if `output_logits` is true. With `side` above
/// 0, images have that side; the parameters remain those of the model for images of its own side. Throws InputError if
/// the family cannot take images of that side.
Tensor image_loss(const Scope& scope, const ModelConfig& config, std::int64_t batch, bool output_logits = false,
                  std::int64_t side = 0);

}  // namespace vkf
