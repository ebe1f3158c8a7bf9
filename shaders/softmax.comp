// y = softmax(x) over the columns that a row may see; zeros elsewhere, and all zeros in a row that sees none.
//
// Shapes: x [rows, width] with its pitch, y [rows, width]. Row r is query r mod `queries` of a
// [queries, width] matrix and stands at column r mod `queries` + width − queries: CAUSAL hides the
// columns behind it, MASK_DIAGONAL that one. A workgroup takes `per_group` rows one after the
// other. y may be x: a lane writes what only it has read.
// Numerics: fp32; exponents of differences to the row's maximum.
#version 460
#include "lib/args.glsl"
#include "lib/group.glsl"
#include "lib/exponential.glsl"
#include "lib/log_sum.glsl"

layout(constant_id = 3) const bool CAUSAL = false;
layout(constant_id = 4) const bool MASK_DIAGONAL = false;

layout(push_constant, scalar) uniform Args {
    In x;
    Out y;
    uint rows;
    uint width;
    uint x_pitch;
    uint queries;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group;
    const uint last = min(first + per_group, rows);
    for (uint row = first; row < last; ++row) {
        const int place = int(row % queries + width) - int(queries);
        const uint end = CAUSAL ? uint(max(place + 1, 0)) : width;
        const uint skip = MASK_DIAGONAL ? uint(place) : width;
        const LogSum of = log_sum(x, row * x_pitch, end, skip);
        const float scale = of.sum > 0.0 ? 1.0 / of.sum : 0.0;
        for (uint j = gl_LocalInvocationID.x; j < width; j += GROUP) {
            float share = 0.0;
            if (j < end && j != skip) share = scale * exp_below(x.at[row * x_pitch + j] - of.top);
            y.at[row * width + j] = share;
        }
    }
}
