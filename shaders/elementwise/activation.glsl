// Activations and their derivatives at one element; kinds are numbered as `Activation` in
// runtime/ops/elementwise/activation.h.
//
// Numerics: GELU, GELU_TANH and SILU are x times a probability (Φ or σ) computed from an exponential of -|x|. No finite
// x overflows, and the negative tail keeps its relative accuracy: a few ulp of |x| everywhere, as for HARDSWISH. TANH
// has a relative error of 4 ulp, also near 0, and is ±1 for large |x|. NaN gives NaN.
#include "lib/exponential.glsl"

const uint GELU = 1;       // x Φ(x): Hendrycks and Gimpel, arXiv 1606.08415
const uint GELU_TANH = 2;  // x (1 + tanh u) / 2 = x σ(2u), u = √(2/π) (x + 0.044715 x³): same paper
const uint RELU = 3;
const uint SILU = 4;       // x σ(x)
const uint EXP = 5;        // e^x
const uint TANH = 6;       // tanh x
const uint HARDSWISH = 7;  // x min(max(x + 3, 0), 6) / 6: Howard et al., arXiv 1905.02244

// Standard normal distribution Φ(x). Φ(-z) e^(z²/2) is smooth and computed as a polynomial in (z - 3.4) / (z + 3.4),
// interpolated at the Chebyshev points of 0 <= z <= 14. Absolute error 1e-7; relative error of the lower tail 3e-7 plus
// the error of e^(-z²/2).
float normal_cdf(float x) {
    float z = abs(x);
    float s = 1.0 - 6.8 / (z + 3.4);
    float p = 1.56460272e-4;
    p = p * s + 2.18028246e-4;
    p = p * s - 1.48176798e-3;
    p = p * s - 3.95940733e-4;
    p = p * s + 1.6511796e-2;
    p = p * s - 5.90246692e-2;
    p = p * s + 1.25740364e-1;
    p = p * s - 1.90786645e-1;
    p = p * s + 1.09083943e-1;
    float tail = p * exp_below(-0.5 * z * z);
    return x < 0.0 ? tail : 1.0 - tail;
}

// σ(x) and σ'(x) = σ(x) σ(-x), computed without subtractions.
vec2 sigmoid_and_slope(float x) {
    float e = exp_below(-abs(x));
    float larger = 1.0 / (1.0 + e);
    float smaller = e * larger;
    return vec2(x < 0.0 ? smaller : larger, smaller * larger);
}

// tanh x and tanh'(x) = 1 − tanh² x. Near 0, (1 − e) / (1 + e) with e = e^(−2|x|) would lose digits; there tanh x / x
// is 1 + s p(s), s = x², with a polynomial p interpolated at the Chebyshev points of 0 <= s <= 0.625².
vec2 tanh_and_slope(float x) {
    float s = x * x;
    float p = -6.09671418e-3;
    p = p * s + 2.09971797e-2;
    p = p * s - 5.38509078e-2;
    p = p * s + 1.33327693e-1;
    p = p * s - 3.33333284e-1;
    float near = x + x * (s * p);
    float e = exp_below(-2.0 * abs(x));
    float inverse = 1.0 / (1.0 + e);
    float far = (1.0 - e) * inverse;
    bool is_far = abs(x) >= 0.625;  // false for NaN, which `near` keeps
    return vec2(is_far ? (x < 0.0 ? -far : far) : near, is_far ? 4.0 * e * inverse * inverse : 1.0 - near * near);
}

// 2 √(2/π) (x + 0.044715 x³), with x clamped to stay finite; σ is 0 or 1 well inside the bounds.
float gelu_tanh_argument(float x) {
    float c = clamp(x, -16.0, 16.0);
    return c * (1.59576912 + 0.0713548163 * c * c);
}

float activation(uint kind, float x) {
    if (kind == GELU) return x * normal_cdf(x);
    if (kind == GELU_TANH) return x * sigmoid_and_slope(gelu_tanh_argument(x)).x;
    if (kind == RELU) return x < 0.0 ? 0.0 : x;
    if (kind == SILU) return x * sigmoid_and_slope(x).x;
    if (kind == EXP) return exp(x);
    if (kind == TANH) return tanh_and_slope(x).x;
    if (kind == HARDSWISH) return x * (clamp(x + 3.0, 0.0, 6.0) * (1.0 / 6.0));
    return x;
}

float activation_slope(uint kind, float x) {
    if (kind == GELU) return normal_cdf(x) + x * (0.398942280 * exp_below(-0.5 * x * x));
    if (kind == GELU_TANH) {
        vec2 s = sigmoid_and_slope(gelu_tanh_argument(x));
        float c = clamp(x, -16.0, 16.0);
        return s.x + x * s.y * (1.59576912 + 0.214064449 * c * c);
    }
    if (kind == RELU) return x <= 0.0 ? 0.0 : 1.0;
    if (kind == SILU) {
        vec2 s = sigmoid_and_slope(x);
        return s.x + x * s.y;
    }
    if (kind == EXP) return exp(x);
    if (kind == TANH) return tanh_and_slope(x).y;
    if (kind == HARDSWISH) return x <= -3.0 ? 0.0 : x >= 3.0 ? 1.0 : x * (1.0 / 3.0) + 0.5;
    return 1.0;
}
