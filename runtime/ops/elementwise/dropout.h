// Dropout.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace vkf {

/// x with each element zeroed with probability p and the rest scaled by 1/(1−p). `seed` is an i32[2] input that the
/// host changes each step; `salt` differs between the dropouts of a model. The backward pass draws the mask again.
Tensor dropout(Tensor x, float p, Tensor seed, std::uint32_t salt);

}  // namespace vkf
