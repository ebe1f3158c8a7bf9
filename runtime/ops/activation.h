// The activations and their derivatives in double; shaders/lib/activation.glsl is the device's side.
#pragma once

#include "ops/ops.h"

namespace vkf {

double activation(Activation kind, double x);
/// kind'(x)
double activation_slope(Activation kind, double x);

}  // namespace vkf
