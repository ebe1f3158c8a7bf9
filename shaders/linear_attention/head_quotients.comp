#version 460
// o = y[:WIDTH] / y[WIDTH] for each row y of the matrices of linear_attention/head_chunks.glsl that holds a head of o
// [B, length, HEADS·WIDTH]. o is 0 where the divisor is at most LEAST, and where no row holds the head. Numerics: fp32.
#define ARGS In y; Out o; uint o_pitch;
#include "linear_attention/head_chunks.glsl"

layout(constant_id = 11) const float LEAST = 0.0;
layout(constant_id = 12) const uint LAYOUT_X = SCALAR;

void main() {
    const uint first = group_index() * per_group, end = min(first + per_group, rows);
    for (uint place = first; place < end; ++place) {
        uint row;
        const bool present = matrix_row_of_head(place, row);
        const uint y_at = row * COLUMNS, o_at = head_at(place, o_pitch);
        const float divisor = present ? y.at[y_at + WIDTH] : 0.0;
        const bool zero = divisor <= LEAST;  // false for NaN, which the quotient keeps
        for (uint j = 2 * gl_LocalInvocationID.x; j < WIDTH; j += 2 * GROUP) {
            const vec2 value = zero ? vec2(0.0) : load_two(y, y_at + j, VEC2) / divisor;
            store_some(o, o_at + j, value, j + 1 < WIDTH, LAYOUT_X);
        }
    }
}
