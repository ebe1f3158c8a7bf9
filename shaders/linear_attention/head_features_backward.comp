#version 460
// Gradient of head_features.comp: d_x = φ'(x) d_y, and of x / ‖x‖ the component of d_y perpendicular to x, divided by
// ‖x‖. Rows of x that do not count, or have no position, get 0, and so do those with ‖x‖ = 0.
#define ARGS In x; In d_y; Out d_x; uint x_pitch; uint d_x_pitch;
#include "linear_attention/head_chunks.glsl"
#include "linear_attention/head_maps.glsl"

layout(constant_id = 14) const uint LAYOUT_DX = SCALAR;

void main() {
    const uint first = group_index() * per_group, end = min(first + per_group, rows);
    for (uint place = first; place < end; ++place) {
        uint row;
        const bool present = matrix_row_of_head(place, row);
        const uint x_at = head_at(place, x_pitch), y_at = row * COLUMNS, d_x_at = head_at(place, d_x_pitch);
        float factor = 1.0, along = 0.0;
        if (MAP == TAYLOR) {
            float square = 0.0, product = 0.0;
            for (uint j = 2 * gl_LocalInvocationID.x; present && j < WIDTH; j += 2 * GROUP) {
                const bool two = j + 1 < WIDTH;
                const vec2 value = load_some(x, x_at + j, two, LAYOUT_X), d = load_two(d_y, y_at + j, LAYOUT_Y);
                square += dot(value, value);
                product += value.x * d.x + (two ? value.y * d.y : 0.0);
            }
            factor = inverse_norm(group_sum(square));
            along = group_sum(product) * factor * factor;
        }
        for (uint j = 2 * gl_LocalInvocationID.x; j < WIDTH; j += 2 * GROUP) {
            const bool two = j + 1 < WIDTH;
            vec2 d = vec2(0.0);
            if (present) {
                const vec2 value = load_some(x, x_at + j, two, LAYOUT_X);
                d = load_two(d_y, y_at + j, LAYOUT_Y);
                if (MAP == TAYLOR) d = factor * (d - along * value);
                else d *= vec2(map_slope(value.x), map_slope(value.y));
            }
            store_some(d_x, d_x_at + j, d, two, LAYOUT_DX);
        }
    }
}
