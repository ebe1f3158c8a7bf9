#version 460
// Several products of one a of few rows by one launch: y = a·op(b) + bias for each of `count` products, op the identity
// or the transpose. On a CPU a launch of a small product is short beside what it takes to start and to end it.
//
// Shapes: a [ROWS, k], b [k, n] or transposed [n, k], bias [n], y [ROWS, n]; n differs. A product's stripes of columns
// begin at workgroup `first`. How a stripe is computed, and in which order it sums: lib/matmul_decode.glsl; the same
// bits as matmul_decode.comp with this STRIPE, without splits.
#include "lib/args.glsl"
#include "lib/parts.glsl"

layout(constant_id = 3) const bool TRANSPOSE_B = false;
layout(constant_id = 4) const bool BIAS = false;
layout(constant_id = 20) const uint LAYOUT_A = SCALAR;
layout(constant_id = 21) const uint LAYOUT_B = SCALAR;

struct Product {
    In b;
    In bias;
    Out y;
    uint b_pitch;
    uint n;
    uint first;
};
TABLE Products { Product at[]; };

layout(push_constant) uniform Args {
    In a;
    Products products;
    uint count;
    uint stripes;  // of all
    uint k;
    uint a_pitch;
};

#include "lib/matmul_decode.glsl"

void store(uint part, uint row, uint column, float sum) {
    const float shift = BIAS ? products.at[part].bias.at[column] : 0.0;
    products.at[part].y.at[row * products.at[part].n + column] = sum + shift;
}

void main() {
    if (group_index() >= stripes) return;
    uint part = count - 1;
    while (group_index() < products.at[part].first) --part;
    Product of = products.at[part];
    compute(Stripe(part, 0, of.b, 0, of.b_pitch, of.n, (group_index() - of.first) * STRIPE, 0, k));
}
