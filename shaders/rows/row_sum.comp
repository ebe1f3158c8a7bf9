// y[r] = Σ x[r, :].
//
// A workgroup sums per_group consecutive rows, one after another with its lanes along the row, or with NARROW one row
// per lane.
// Numerics: fp32; a lane adds its elements in order, then the lanes are added in a fixed order.
#version 460
#include "lib/args.glsl"
#include "lib/group.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const bool NARROW = false;
layout(constant_id = 3) const uint LAYOUT = SCALAR;  // layout of x

layout(push_constant) uniform Args {
    In x;
    Out y;
    uint rows;
    uint width;
    uint x_pitch;
    uint per_group;
};

void main() {
    const uint lane = gl_LocalInvocationID.x;
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, rows);
    if (NARROW) {
        for (uint row = first + lane; row < end; row += GROUP) {
            float sum = 0.0;
            for (uint c = 0; c < width; ++c) sum += load_one(x, row * x_pitch + c, LAYOUT);
            y.at[row] = sum;
        }
        return;
    }
    for (uint row = first; row < end; ++row) {
        float sum = 0.0;
        for (uint c = lane; c < width; c += GROUP) sum += load_one(x, row * x_pitch + c, LAYOUT);
        sum = group_sum(sum);
        if (lane == 0) y.at[row] = sum;
    }
}
