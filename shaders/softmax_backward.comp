// d_x = y · (d_y − <y, d_y>) per row, for y = softmax(x).
//
// Shapes: y, d_y, d_x [rows, width]. A workgroup takes `per_group` rows one after the other. With KEPT = ceil(width /
// GROUP) a row is read once and held in registers, with KEPT = 0 it is read twice. d_x may be y or d_y.
// Numerics: fp32. Masked columns have y = 0 and get 0.
#version 460
#include "lib/args.glsl"
#include "lib/group.glsl"

layout(constant_id = 2) const uint KEPT = 0;

layout(push_constant, scalar) uniform Args {
    In y;
    In d_y;
    Out d_x;
    uint rows;
    uint width;
    uint per_group;
};

const uint REGISTERS = KEPT > 0 ? KEPT : 1;

void main() {
    const uint lane = gl_LocalInvocationID.x;
    const uint first = group_index() * per_group;
    const uint last = min(first + per_group, rows);
    for (uint row = first; row < last; ++row) {
        const uint at = row * width;
        float p[REGISTERS], d[REGISTERS];
        float sum = 0.0;
        [[unroll]] for (uint k = 0; k < KEPT; ++k) {
            const uint j = k * GROUP + lane;
            p[k] = j < width ? y.at[at + min(j, width - 1)] : 0.0;
            d[k] = d_y.at[at + min(j, width - 1)];
            sum += p[k] * d[k];
        }
        if (KEPT == 0)
            for (uint j = lane; j < width; j += GROUP) sum += y.at[at + j] * d_y.at[at + j];
        sum = group_sum(sum);
        [[unroll]] for (uint k = 0; k < KEPT; ++k) {
            const uint j = k * GROUP + lane;
            if (j < width) d_x.at[at + j] = p[k] * (d[k] - sum);
        }
        if (KEPT == 0)
            for (uint j = lane; j < width; j += GROUP)
                d_x.at[at + j] = y.at[at + j] * (d_y.at[at + j] - sum);
    }
}
