// Feature maps φ of linear attention for a pair of a head's columns; numbered as `HeadFeatureMap` in
// runtime/ops/linear_attention/head_features.h.
//
// Numerics: fp32; e^x by lib/exponential.glsl, |x| / 2 + 1 ulp, and 0 below 2^-100. NaN gives NaN.
#include "lib/exponential.glsl"
#include "lib/group.glsl"

const uint IDENTITY = 0;  // x
const uint WITH_ONE = 1;  // [x, 1]
const uint ELU = 2;       // x + 1 for x > 0, else e^x
const uint RELU = 3;      // max(0, x)
const uint TAYLOR = 4;    // [x / ‖x‖, 1]

layout(constant_id = 11) const uint MAP = IDENTITY;
layout(constant_id = 12) const uint LAYOUT_X = SCALAR;
layout(constant_id = 13) const uint LAYOUT_Y = SCALAR;

const bool APPENDS_ONE = MAP == WITH_ONE || MAP == TAYLOR;

float map_one(float x) {
    if (MAP == ELU) return x > 0.0 ? x + 1.0 : x <= 0.0 ? exp_below(x) : x;
    return MAP == RELU && x < 0.0 ? 0.0 : x;
}

float map_slope(float x) {
    if (MAP == ELU) return x > 0.0 ? 1.0 : map_one(x);
    return MAP == RELU && x <= 0.0 ? 0.0 : 1.0;
}

// 1 / ‖x‖ from <x, x>; 0 where that is 0 or subnormal.
float inverse_norm(float square) { return square < 1.17549435e-38 ? 0.0 : 1.0 / sqrt(square); }
