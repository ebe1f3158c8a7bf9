// Detection of outliers among gradients.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace vkf {

/// Number of norms with which a new one is compared.
inline constexpr std::int64_t outlier_window = 128;

struct OutlierCheck {
    Tensor z_score;  // [] z-score of the norm in the window; 0 until the window is full
    Tensor clip;     // [] the input's; -1, which skips the step, if the z-score is above the limit
    Tensor state;    // new state
};

/// Skips steps whose gradients' norm is an outlier, as llm.c does: the norm replaces the oldest norm of a window, and
/// its z-score is its distance above the window's mean in standard deviations. Skipped norms stay in the window, so
/// that norms may become larger permanently. `norm` and `clip`, [], are those of global_norm or unscale; if the clip
/// factor is negative, the norm does not enter the window. `state` is f32[1 + W] for a window of W norms, initially
/// zero: the number of norms so far, which continues at W instead of reaching 2·W, and the norms. It changes in place.
OutlierCheck skip_outliers(Tensor norm, Tensor clip, Tensor state, float limit);

}  // namespace vkf
