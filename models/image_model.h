// Functions of all image models: logits, the loss, and the inputs of attention weights.
#pragma once

#include <cstdint>
#include <vector>

#include "models/families/family.h"
#include "ops/attention/attention.h"

namespace vkf {

/// Inputs of a block's attention weights, as the op gets them: q and k [B, T, heads·D].
struct AttentionProbe {
    Tensor q, k;
    AttentionOptions options;
};

/// Type of a batch of images: f32 [batch, channels, side, side].
TensorType image_type(const ModelConfig& config, std::int64_t batch);

/// Logits [B, classes] of images f32 [B, channels, side, side], already normalised. `attention`, if given, receives
/// the inputs of every block's attention weights.
Tensor image_logits(const Scope& scope, const ModelConfig& config, Tensor images,
                    std::vector<AttentionProbe>* attention = nullptr);

/// Mean cross-entropy of a micro-batch against weights of classes; declares its inputs `images` f32 [batch, channels,
/// side, side] and `targets` f32 [batch, classes]. Logits are an output if `output_logits` is true.
Tensor image_loss(const Scope& scope, const ModelConfig& config, std::int64_t batch, bool output_logits = false);

}  // namespace vkf
