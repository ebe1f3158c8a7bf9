// Weights rounded to 8-bit numbers, for models that are trained with such weights.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// s · Q(w / s), where s is the mean magnitude of all of w and Q is round_e5m2; zeros if s is 0. The gradient of w is
/// the result's gradient, as if without rounding (straight-through: Bengio et al., arXiv 1308.3432).
Tensor fake_quantize_e5m2(Tensor w);

/// Nearest number with two binary digits after the point, ties to even: multiples of 2^-16 below 2^-14; magnitudes
/// above 1.75 · 2^16 become 1.75 · 2^16. Eight bits hold these numbers if no code stands for infinity or NaN.
double round_e5m2(double x);

}  // namespace vkf
