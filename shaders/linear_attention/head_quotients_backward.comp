#version 460
// Gradient of head_quotients.comp: d_y[:WIDTH] = d_o / y[WIDTH] and d_y[WIDTH] = -<d_o, y[:WIDTH]> / y[WIDTH]². Rows
// that hold no head, or whose quotients are 0 by rule, get 0, and so do the columns behind. Numerics: fp32.
#define ARGS In y; In d_o; Out d_y; uint d_o_pitch;
#include "linear_attention/head_chunks.glsl"
#include "lib/group.glsl"

layout(constant_id = 11) const float LEAST = 0.0;
layout(constant_id = 12) const uint LAYOUT_X = SCALAR;

void main() {
    const uint first = group_index() * per_group, end = min(first + per_group, rows);
    for (uint row = first; row < end; ++row) {
        uint place;
        const bool present = head_of_matrix_row(row, place);
        const uint y_at = row * COLUMNS, d_o_at = head_at(place, d_o_pitch);
        const float divisor = present ? y.at[y_at + WIDTH] : 0.0;
        const bool zero = divisor <= LEAST;  // false for NaN, which the gradient keeps
        float product = 0.0;
        for (uint j = 2 * gl_LocalInvocationID.x; !zero && j < WIDTH; j += 2 * GROUP) {
            const bool two = j + 1 < WIDTH;
            const vec2 d = load_some(d_o, d_o_at + j, two, LAYOUT_X), value = load_two(y, y_at + j, VEC2);
            product += d.x * value.x + (two ? d.y * value.y : 0.0);
        }
        product = group_sum(product) / divisor;
        for (uint j = 2 * gl_LocalInvocationID.x; j < COLUMNS; j += 2 * GROUP) {
            vec2 d = vec2(0.0);
            if (!zero) {
                if (j < WIDTH) d = load_some(d_o, d_o_at + j, j + 1 < WIDTH, LAYOUT_X) / divisor;
                if (j / 2 == WIDTH / 2) d[WIDTH % 2] = -product / divisor;
            }
            store_two(d_y, row * COLUMNS + j, d, VEC2);
        }
    }
}
