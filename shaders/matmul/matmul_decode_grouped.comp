#version 460
// Several products of one matrix a of few rows in one launch: y = a·op(b) + bias for each of `count` products, where op
// is the identity or the transpose. On a CPU starting and ending a launch takes longer than a small product.
//
// Shapes: a [ROWS, k], b [k, n] or transposed [n, k], bias [n], y [ROWS, n], with n of each product. A product's
// stripes of columns begin at workgroup `first`. Computation and order of sums: matmul/matmul_decode.glsl; results
// equal matmul_decode.comp with this STRIPE, without splits, bit for bit.
#include "lib/args.glsl"
#include "optimizer/tensor_chunks.glsl"

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
    uint stripes;  // of all products
    uint k;
    uint a_pitch;
};

#include "matmul/matmul_decode.glsl"

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
