// Policy of passes: which of them a device profits from.
#pragma once

#include "graph/op.h"

namespace vkf {

/// True if products should multiply by an activation's derivative as they write: on GPUs (docs/lab/launches.md).
inline bool fuses_activation_backward(const DeviceTraits& device) {
    return !device.cpu;
}

}  // namespace vkf
