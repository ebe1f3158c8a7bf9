// Dynamic loss scaling.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace vkf {

struct LossScaleOptions {
    float limit = 0.0f;                   // greatest norm; 0: no limit
    std::int64_t growth_interval = 2000;  // good steps in a row after which the scale doubles
};

struct Unscaled {
    Tensor norm;   // [] norm of the unscaled gradients
    Tensor clip;   // [] factor from scaled to clipped gradients; -1, which skips the step, if the norm is not finite
    Tensor state;  // new state
};

/// Dynamic loss scaling (Micikevicius et al., ICLR 2018) by the rules of PyTorch's GradScaler: gradients in fp16 are
/// computed `state[0]` times too large, so that small ones are not lost. `norm` is their global norm; `state`, f32[2],
/// is the scale and the number of good steps in a row. After a bad step, whose norm is not finite, the scale halves;
/// after growth_interval good steps it doubles, to 2^100 at most. The state changes in place.
Unscaled unscale(Tensor norm, Tensor state, const LossScaleOptions& options = {});

}  // namespace vkf
