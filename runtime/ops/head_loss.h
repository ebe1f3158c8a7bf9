// A language model's last map and its loss as one op.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace vkf {

struct HeadLossOptions {
    std::optional<std::int64_t> logits_bytes = {};  // absent: what suits the device
    Tensor d_loss = {};  // [] gradient that the loss will have, known beforehand; absent: 1. Any other costs a pass.
};

/// cross_entropy(x · wᵀ, targets): x [..., C], w [V, C], targets i32 [...] → []. Logits are made and used up a chunk of
/// rows at a time, of at most about `logits_bytes`, and never saved: where a gradient is wanted the forward pass makes
/// it. Where none is wanted that costs nothing. The gradient by the logits is kept in 16 bits on a GPU whose products
/// may round their factors to these.
Tensor head_loss(Tensor x, Tensor w, Tensor targets, const HeadLossOptions& options = {});

}  // namespace vkf
