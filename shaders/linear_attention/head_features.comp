#version 460
// y = φ(x) for each head's row of x, as a row of the matrices of linear_attention/head_chunks.glsl; the maps are those
// of linear_attention/head_maps.glsl. Columns behind φ's own are 0, and so are rows of y that hold no row of x. Rows of
// x that do not count are not read.
#define ARGS In x; Out y; uint x_pitch;
#include "linear_attention/head_chunks.glsl"
#include "linear_attention/head_maps.glsl"

void main() {
    const uint first = group_index() * per_group, end = min(first + per_group, rows);
    for (uint row = first; row < end; ++row) {
        uint place;
        const bool present = head_of_matrix_row(row, place);
        const uint x_at = head_at(place, x_pitch);
        float factor = 1.0;
        if (MAP == TAYLOR) {
            float square = 0.0;
            for (uint j = 2 * gl_LocalInvocationID.x; present && j < WIDTH; j += 2 * GROUP) {
                const vec2 value = load_some(x, x_at + j, j + 1 < WIDTH, LAYOUT_X);
                square += dot(value, value);
            }
            factor = inverse_norm(group_sum(square));
        }
        for (uint j = 2 * gl_LocalInvocationID.x; j < COLUMNS; j += 2 * GROUP) {
            vec2 value = vec2(0.0);
            if (present && j < WIDTH) {
                const bool two = j + 1 < WIDTH;
                value = load_some(x, x_at + j, two, LAYOUT_X);
                value = factor * vec2(map_one(value.x), two ? map_one(value.y) : 0.0);
            }
            if (APPENDS_ONE && present && j / 2 == WIDTH / 2) value[WIDTH % 2] = 1.0;
            store_two(y, row * COLUMNS + j, value, LAYOUT_Y);
        }
    }
}
