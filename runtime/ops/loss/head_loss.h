// Output layer and loss of a language model as one op.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace vkf {

/// Weights of the terms that are added to a row's cross-entropy; 0: none.
struct LossTerms {
    float z_loss = 0;  // of log²Z, Z = Σ exp(logits); PaLM (Chowdhery et al., 2022): 1e-4
    bool operator==(const LossTerms&) const = default;
};

struct HeadLossOptions {
    std::optional<std::int64_t> logits_bytes = {};  // absent: as suits the device
    Tensor d_loss = {};  // [] gradient of the loss, if known beforehand; absent: 1. A different one costs a pass.
    LossTerms terms = {};
};

/// cross_entropy(x · wᵀ, targets), plus the mean of each row's `terms`: x [..., C], w [V, C], targets i32 [...] → [].
/// Logits are computed and used in chunks of rows, of at most about `logits_bytes`, and never saved: the forward pass
/// computes the gradients if they are wanted, at no cost if they are not. The gradient of the logits is kept in 16 bits
/// on a GPU whose products may round their factors to 16 bits.
Tensor head_loss(Tensor x, Tensor w, Tensor targets, const HeadLossOptions& options = {});

}  // namespace vkf
