// Output layer and loss of a language model as one op.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace vkf {

/// Weights of what a row's loss has besides the cross-entropy of its target; 0: none. With label smoothing ε
/// (Szegedy et al., 2016) the row's target is a distribution: ε / V in each of the V columns, and 1 − ε more in the
/// column y of the target, as in PyTorch; fairseq gives ε / (V − 1) to the columns other than y. Together:
/// log Z − (1 − ε) · logits[y] − ε · mean(logits) + z_loss · log²Z, Z = Σ exp(logits).
struct LossTerms {
    float z_loss = 0;           // PaLM (Chowdhery et al., 2022): 1e-4
    float label_smoothing = 0;  // ε, 0 ≤ ε < 1; Vaswani et al. (2017): 0.1
    bool operator==(const LossTerms&) const = default;
};

struct HeadLossOptions {
    std::optional<std::int64_t> logits_bytes = {};  // absent: as suits the device
    Tensor d_loss = {};  // [] gradient of the loss, if known beforehand; absent: 1. A different one costs a pass.
    LossTerms terms = {};
};

/// cross_entropy(x · wᵀ, targets), the mean of the rows' losses with `terms`: x [..., C], w [V, C], targets i32 [...]
/// → []. Rows with a negative target do not count.
/// Logits are computed and used in chunks of rows, of at most about `logits_bytes`, and never saved: the forward pass
/// computes the gradients if they are wanted, at no cost if they are not. The gradient of the logits is kept in 16 bits
/// on a GPU whose products may round their factors to 16 bits.
Tensor head_loss(Tensor x, Tensor w, Tensor targets, const HeadLossOptions& options = {});

}  // namespace vkf
