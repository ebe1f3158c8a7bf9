#version 460
// matmul.comp for the few rows of decoding, where every element of b is used only ROWS times.
//
// Shapes, splits: as matmul.comp; m = ROWS, a not transposed. y is not packed. Computation and order of sums:
// matmul/matmul_decode.glsl.
#include "matmul/matmul.glsl"
#include "matmul/matmul_decode.glsl"

void store(uint part, uint row, uint column, float sum) {
    const float shift = BIAS ? bias.at[column] : 0.0;
    const float more = load_aux(part / splits * aux_batch + row * aux_pitch + column);
    y.at[part * y_batch + row * y_pitch + column] = finish(sum, shift, y_scale(part / splits, row), more);
}

void main() {
    const uint stripes = (n + STRIPE - 1) / STRIPE;
    const uint part = group_index() / stripes;
    if (part >= batches * splits) return;
    const uint batch = part / splits;
    compute(Stripe(part, batch * a_batch, b, batch * b_batch, b_pitch, n, group_index() % stripes * STRIPE,
                   part_k_begin(part), part_k_end(part)));
}
