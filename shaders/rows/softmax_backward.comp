// d_x = y · (d_y − <y, d_y>) per row, where y = softmax(x).
//
// Shapes: y, d_y, d_x [rows, WIDTH]. A workgroup takes `per_group` rows one after the other. d_x may be y or d_y.
// Numerics: fp32. Masked columns have y = 0 and d_x = 0.
#version 460
#include "lib/args.glsl"
#include "lib/group.glsl"
#include "rows/row_registers.glsl"

layout(push_constant) uniform Args {
    In y;
    In d_y;
    Out d_x;
    uint rows;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group;
    const uint last = min(first + per_group, rows);
    for (uint row = first; row < last; ++row) {
        const uint at = row * WIDTH;
        vec2 p[STRIP], d[STRIP];
        float sum = 0.0;
        for (uint s = 0; s < STRIPS; ++s) {
            load_strip(y, at, s, p);
            load_strip(d_y, at, s, d);
            [[unroll]] for (uint k = 0; k < STRIP; ++k) sum += dot(p[k], d[k]);
        }
        sum = group_sum(sum);
        for (uint s = 0; s < STRIPS; ++s) {
            if (STRIPS > 1) load_strip(y, at, s, p);
            if (STRIPS > 1) load_strip(d_y, at, s, d);
            [[unroll]] for (uint k = 0; k < STRIP; ++k) store_pair(d_x, at, s, k, p[k] * (d[k] - sum));
        }
    }
}
