// AdamW, SET-Adam and SGD. Each needs few dispatches for any number of parameters.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// One parameter with its gradient and its optimiser's states, which have the parameter's shape and start at zero.
struct Slot {
    Tensor parameter;
    Tensor gradient;
    Tensor m = {};  // running mean of gradients; sgd: the momentum buffer, absent without momentum
    Tensor v = {};  // running mean of squared gradients; absent for sgd
    float weight_decay = 0.0f;
};

/// Numbers that the host writes into the f32[4] input `rates` before step t = 1, 2, …: lr, lr/(1−β1^t), 1/(1−β2^t),
/// 1/√(1−β2^t), computed in double.
std::array<float, 4> step_rates(double rate, double beta1, double beta2, std::int64_t step);

struct AdamOptions {
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
};

/// AdamW as in PyTorch: p ← p − lr·wd·p − lr·m̂/(√v̂ + ε). The gradient is first multiplied by `clip`, a []
/// tensor or absent; a negative `clip` skips the step. Parameters and moments change in place; returns the new
/// parameters. Numerics: moments below 1e-30 become 0.
std::vector<Tensor> adamw(std::span<const Slot> slots, Tensor rates, Tensor clip, const AdamOptions& options = {});

/// SET-Adam (Zhang, ECML 2024): with w = √(c²·v̂ + ε), c the cosine between a tensor's v and (1, …, 1),
/// p ← p − lr·m̂/(w − ½ min w). Weight decay is added to the gradient. AttentionX (000, 001 §4.1) uses ε = 1e-18.
std::vector<Tensor> setadam(std::span<const Slot> slots, Tensor rates, Tensor clip, const AdamOptions& options = {});

struct SgdOptions {
    float momentum = 0.0f;
    bool nesterov = false;
};

/// Gradient descent as in PyTorch: weight decay is added to the gradient; the first step's buffer is the gradient.
std::vector<Tensor> sgd(std::span<const Slot> slots, Tensor rates, Tensor clip, const SgdOptions& options = {});

}  // namespace vkf
