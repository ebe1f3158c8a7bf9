// In which way attention is computed: asked of the device where there is somebody to ask.
#pragma once

#include "graph/chooser.h"
#include "ops/attention_tiling.h"

namespace vkf {

/// Attention as far as the choice of its kernels depends on it; a forward pass, or a whole derivative. Dropout costs
/// either way the same.
struct AttentionKind {
    AttentionSize size;
    AttentionMask mask;  // without lengths
    Format format;       // of q, k, v, o and their gradients
    bool backward;
};

/// One of attention_ways(): the chooser's choice, or without one the model's.
std::string attention_way(const DeviceTraits& device, const AttentionKind& of);

/// What a chooser is asked about it. Sizes that are alike when rounded up to powers of two are of one kind.
Question question(const DeviceTraits& device, const AttentionKind& of);

}  // namespace vkf
