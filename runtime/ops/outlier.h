// Gradients that are outliers.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace vkf {

/// Norms that a new one is compared with.
inline constexpr std::int64_t outlier_window = 128;

struct OutlierCheck {
    Tensor z_score;  // [] of the norm in the window; 0 until the window is full
    Tensor clip;     // [] as it was; -1, which skips the step, where the z-score is above the limit
    Tensor state;    // the new one
};

/// Skips steps whose gradients' norm is an outlier, as llm.c does: it takes the place of the oldest norm of a window,
/// and its z-score is how many standard deviations it then lies above the window's mean. What is skipped stays in the
/// window, so that norms may become larger for good. `norm` and `clip`, [], are those of global_norm or unscale; a
/// negative clip factor keeps the norm out. `state` is f32[1 + W] for a window of W norms, first zero: how many there
/// were, counted to 2·W and on from W, and the norms themselves. It changes in place.
OutlierCheck skip_outliers(Tensor norm, Tensor clip, Tensor state, float limit);

}  // namespace vkf
