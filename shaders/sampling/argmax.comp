#version 460
// y[r] = column of the largest element of x[r, :], the first of equal ones; of the first NaN if there is one.
//
// A workgroup takes `per_group` consecutive rows one after the other, its lanes along the row, a pair of columns each.
#include "lib/args.glsl"
#include "lib/ordered.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint LAYOUT = SCALAR;

layout(push_constant) uniform Args {
    In x;
    OutInt y;
    uint rows;
    uint width;
    uint x_pitch;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group, end = min(first + per_group, rows);
    for (uint row = first; row < end; ++row) {
        uint top = 0, at = 0xffffffffu;
        for (uint c = 2 * gl_LocalInvocationID.x; c < width; c += 2 * GROUP) {
            const bool two = c + 1 < width;
            const vec2 pair = load_some(x, row * x_pitch + c, two, LAYOUT);
            const uint one = ordered(pair.x), other = two ? ordered(pair.y) : 0;
            if (max(one, other) > top) {
                top = max(one, other);
                at = one >= other ? c : c + 1;
            }
        }
        const uint greatest = group_max(top);
        const uint column = group_min(top == greatest ? at : 0xffffffffu);
        if (gl_LocalInvocationID.x == 0) y.at[row] = int(column);
    }
}
