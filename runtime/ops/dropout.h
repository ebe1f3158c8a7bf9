// Dropout.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace vkf {

/// x with each element zeroed with probability p and the rest scaled by 1/(1−p). `seed` is an i32[2] input that the
/// host changes each step; `salt` tells the sites of one model apart. The mask is drawn anew in the backward pass.
Tensor dropout(Tensor x, float p, Tensor seed, std::uint32_t salt);

}  // namespace vkf
