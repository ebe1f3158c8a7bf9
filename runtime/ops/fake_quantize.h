// Weights as 8 bits would hold them, in models that are trained for it.
#pragma once

#include "graph/graph.h"

namespace vkf {

/// s · Q(w / s), where s is the mean magnitude of all of w and Q is round_e5m2; zeros if s is 0. The gradient of w is
/// that of the result, as if nothing had been rounded (straight-through: Bengio et al., arXiv 1308.3432).
Tensor fake_quantize_e5m2(Tensor w);

/// To the nearest number of two binary digits behind the point, ties to even: multiples of 2^-16 below 2^-14, and at
/// most 1.75 · 2^16, which all beyond becomes. Eight bits hold these where none stands for infinity or NaN.
double round_e5m2(double x);

}  // namespace vkf
