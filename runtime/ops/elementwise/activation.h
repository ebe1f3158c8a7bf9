// Activation functions.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace vkf {

enum class Activation : std::uint32_t { none, gelu, gelu_tanh, relu, silu, exp, tanh, hardswish };

/// gelu: x·Φ(x) with the exact Φ (erf); gelu_tanh: GPT-2's approximation; silu: x·σ(x); exp: eˣ, for learned scales;
/// tanh: in recurrent cells and additive attention; hardswish: x·min(max(x + 3, 0), 6)/6 (Howard et al. 2019, arXiv
/// 1905.02244), with slopes 0 at −3 and 1 at 3.
Tensor activate(Tensor x, Activation kind);
/// d_y · kind'(x), the derivative taken at the saved pre-activation x.
Tensor activate_backward(Tensor x, Tensor d_y, Activation kind);

/// kind(x) in double, for the interpreter. shaders/elementwise/activation.glsl is the device's version.
double activation(Activation kind, double x);
/// kind'(x)
double activation_slope(Activation kind, double x);

}  // namespace vkf
