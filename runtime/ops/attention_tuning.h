// Which kernels compute attention: the autotuner's answer where there is one.
#pragma once

#include "graph/autotuner.h"
#include "ops/attention_mask.h"
#include "ops/attention_tiling.h"

namespace vkf {

/// Attention as far as the choice of its kernels depends on it; a forward pass, or a whole derivative. Dropout costs
/// every implementation the same.
struct AttentionKind {
    AttentionSize size;
    AttentionMask mask;  // without lengths
    Format format;       // of q, k, v, o and their gradients
    bool backward;
};

/// One of attention_implementations(): the autotuner's choice, or without one the model's.
std::string attention_implementation(const DeviceTraits& device, const AttentionKind& of);

/// What an autotuner is asked about it. Sizes that are alike when rounded up to powers of two are tuned as one.
TuningProblem tuning_problem(const DeviceTraits& device, const AttentionKind& of);

/// The names of all kernels that such problems' candidates run, of any device.
std::vector<std::string> attention_kernels();

}  // namespace vkf
