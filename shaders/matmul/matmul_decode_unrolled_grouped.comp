#version 460
// matmul_decode_grouped.comp for CPU devices that load vectors (lib/uniform_loads.glsl): up to three products, with all
// arguments in push constants.
//
// Shapes: a [ROWS, k], b [k, n] or transposed [n, k], bias [n], y [ROWS, n]; k is TERMS. Workgroups from `first_1` and
//   `first_2` on have stripes of the second and the third product. Results equal matmul_decode_unrolled.comp bit for
//   bit.
#include "lib/args.glsl"

layout(constant_id = 3) const bool TRANSPOSE_B = false;
layout(constant_id = 4) const bool BIAS = false;

layout(push_constant) uniform Args {
    In a;
    In b_0;
    In b_1;
    In b_2;
    In bias_0;
    In bias_1;
    In bias_2;
    Out y_0;
    Out y_1;
    Out y_2;
    uint n_0;
    uint n_1;
    uint n_2;
    uint b_pitch;
    uint first_1;
    uint first_2;
    uint a_pitch;
    uint digits[4];
};

#include "matmul/matmul_decode_unrolled.glsl"

uint of;
uint n;

// The argument of product `of`. All three are loaded as parameters, because a selection between loads would be a
// branch.
uint chosen(uint first, uint second, uint third) {
    const uint other = of == 1 ? second : third;
    return of == 0 ? first : other;
}
uint64_t chosen(uint64_t first, uint64_t second, uint64_t third) {
    const uint64_t other = of == 1 ? second : third;
    return of == 0 ? first : other;
}

void store(uint row, uint column, float sum) {
    const float shift = BIAS ? In(chosen(uint64_t(bias_0), uint64_t(bias_1), uint64_t(bias_2))).at[column] : 0.0;
    Out(chosen(uint64_t(y_0), uint64_t(y_1), uint64_t(y_2))).at[row * n + column] = sum + shift;
}

void main() {
    const uint group = known_uniform(group_index(), 16);
    of = uint(group >= first_1) + uint(group >= first_2);
    n = chosen(n_0, n_1, n_2);
    In b = In(chosen(uint64_t(b_0), uint64_t(b_1), uint64_t(b_2)));
    compute(Stripe(b, b_pitch, n, (group - chosen(0, first_1, first_2)) * STRIPE, 0));
}
