// What all models of images have in common: logits, the loss, and what their attention weights are made of.
#pragma once

#include <cstdint>
#include <vector>

#include "models/family.h"
#include "ops/attention.h"

namespace vkf {

/// What a block's attention weights are made of, as its op gets it: q and k [B, T, heads·D].
struct AttentionProbe {
    Tensor q, k;
    AttentionOptions options;
};

/// f32 [batch, channels, side, side].
TensorType image_type(const ModelConfig& config, std::int64_t batch);

/// Logits [B, classes] of images f32 [B, channels, side, side], already normalised. `attention`, if given, receives
/// what every block's attention is made of.
Tensor image_logits(const Scope& scope, const ModelConfig& config, Tensor images,
                    std::vector<AttentionProbe>* attention = nullptr);

/// Mean cross-entropy of a micro-batch against weights of classes; declares its inputs `images` f32 [batch, channels,
/// side, side] and `targets` f32 [batch, classes]. Logits are an output if `output_logits` says so.
Tensor image_loss(const Scope& scope, const ModelConfig& config, std::int64_t batch, bool output_logits = false);

}  // namespace vkf
