// Logits of a model's features, and the loss of targets.
#pragma once

#include "models/families/family.h"
#include "ops/loss/head_loss.h"

namespace vkf {

/// Logits of `rows`, which are some rows of made.features: rows · tableᵀ + bias, [..., V].
Tensor logits_of(const Features& made, Tensor rows);

/// Mean cross-entropy of the logits of all features, over the targets, i32 [B, T], that are not negative.
Tensor mean_loss(const Scope& scope, const Features& made, Tensor targets, const LossTerms& terms);

}  // namespace vkf
