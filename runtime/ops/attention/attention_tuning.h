// Choice of attention kernels by the autotuner, if there is one.
#pragma once

#include "graph/autotuner.h"
#include "ops/attention/attention_mask.h"
#include "ops/attention/attention_tiling.h"

namespace vkf {

/// Properties of attention, a forward pass or a whole derivative, on which the choice of kernels depends. Dropout is
/// not among them: it costs every implementation the same.
struct AttentionProblem {
    AttentionSize size;
    AttentionMask mask;  // without lengths
    Format format;       // of q, k, v, o and their gradients
    bool backward;
};

/// One of attention_implementations(): the autotuner's choice; without an autotuner the device model's.
std::string attention_implementation(const DeviceTraits& device, const AttentionProblem& kind);

/// Tuning problem of such an attention. Sizes that are equal when rounded up to powers of two are tuned as one.
TuningProblem tuning_problem(const DeviceTraits& device, const AttentionProblem& kind);

/// Names of all kernels that candidates of these problems run, on any device.
std::vector<std::string> attention_kernels();

}  // namespace vkf
