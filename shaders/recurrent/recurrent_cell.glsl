// Gates of a recurrent cell at one hidden unit, shared by the cell and its derivative.
//
//   RNN   h' = tanh(p)
//   LSTM  c' = σ(p_f) c + σ(p_i) tanh(p_g),  h' = σ(p_o) tanh(c');  rows in the order i, f, g, o
//   GRU   h' = (1 − z) n + z h,  r = σ(p_r),  z = σ(p_z),  n = tanh(a_n + r u_n);  rows in the order r, z, n
//
// p = a + u, where a [rows, GATES·WIDTH] is the input's product and u the product of the state before. With SUMMED
// there is no u, and a is already the sum; a GRU needs both. With LENGTHS a row whose length is at most `step` keeps
// its state.
//
// Numerics: fp32; sigmoid and tanh as in elementwise/activation.glsl, a few ulp, without overflow. NaN gives NaN.
#include "lib/args.glsl"
#include "elementwise/activation.glsl"
#include "lib/vector_layout.glsl"

const uint RNN = 0, LSTM = 1, GRU = 2;  // as `Cell` in runtime/ops/recurrent/cell.h

layout(constant_id = 2) const uint CELL = RNN;
layout(constant_id = 3) const uint WIDTH = 64;
layout(constant_id = 4) const uint LAYOUT = SCALAR;
layout(constant_id = 5) const bool SUMMED = false;
layout(constant_id = 6) const bool LENGTHS = false;

const uint GATES = CELL == LSTM ? 4 : CELL == GRU ? 3 : 1;

// σ(x); sigmoid_and_slope() would make a number of NaN.
float sigmoid(float x) {
    const float s = sigmoid_and_slope(x).x;
    return abs(x) >= 0.0 ? s : x;
}

vec2 sigmoid(vec2 x) { return vec2(sigmoid(x.x), sigmoid(x.y)); }
vec2 hyperbolic_tangent(vec2 x) { return vec2(tanh_and_slope(x.x).x, tanh_and_slope(x.y).x); }

// Columns of all gates at a pair of hidden units.
struct Gates {
    vec2 at[4];
};

Gates load_gates(In x, uint row_at, uint unit, bool two) {
    Gates gates;
    [[unroll]] for (uint g = 0; g < 4; ++g)
        gates.at[g] = g < GATES ? load_some(x, row_at + g * WIDTH + unit, two, LAYOUT) : vec2(0.0);
    return gates;
}

void store_gates(Out y, uint row_at, uint unit, bool two, Gates gates) {
    [[unroll]] for (uint g = 0; g < GATES; ++g) store_some(y, row_at + g * WIDTH + unit, gates.at[g], two, LAYOUT);
}

// Values of the gates after their activations.
Gates activated(Gates a, Gates u) {
    Gates gates;
    [[unroll]] for (uint g = 0; g < GATES; ++g) {
        vec2 p = a.at[g];
        if (!SUMMED) p += CELL == GRU && g == 2 ? gates.at[0] * u.at[g] : u.at[g];
        const bool candidate = CELL == RNN || g == 2;
        gates.at[g] = candidate ? hyperbolic_tangent(p) : sigmoid(p);
    }
    return gates;
}
