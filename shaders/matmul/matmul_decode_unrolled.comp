#version 460
// matmul_decode.comp for CPU devices that load vectors (lib/uniform_loads.glsl), with constant numbers of iterations:
// matmul/matmul_decode_unrolled.glsl.
//
// Shapes, splits: as matmul.comp; m = ROWS, one batch, a not transposed, all in fp32. n is at least STRIPE, k is TERMS
//   or, if it is split, a multiple of TERMS. Fewer than 2^16 workgroups, `splits` of them for each stripe.
#define DIGITS uint digits[4];
#include "matmul/matmul.glsl"
#include "matmul/matmul_decode_unrolled.glsl"

uint part;

void store(uint row, uint column, float sum) {
    const float shift = BIAS ? bias.at[column] : 0.0;
    const float more = load_aux(row * aux_pitch + column);
    y.at[part * y_batch + row * y_pitch + column] = finish(sum, shift, y_scale(0, row), more);
}

void main() {
    const uint stripes = (n + STRIPE - 1) / STRIPE, group = known_uniform(group_index(), 16);
    part = group / stripes;
    compute(Stripe(b, b_pitch, n, group % stripes * STRIPE, part * TERMS));
}
