#version 460
// y[r] = the column of the greatest of x[r, :], the first of equals; of the first NaN where there is one.
//
// A workgroup takes `per_group` consecutive rows one after the other, its lanes along the row, a pair of columns each.
// Numbers are compared as words whose order is theirs, so that no driver's idea of NaN matters.
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint LAYOUT = SCALAR;

layout(push_constant, scalar) uniform Args {
    In x;
    OutInt y;
    uint rows;
    uint width;
    uint x_pitch;
    uint per_group;
};

shared uint partial[32];  // one per subgroup

uint group_max(uint word) {
    uint top = subgroupMax(word);
    if (GROUP > SUBGROUP) {
        barrier();  // an earlier reduction may still be reading
        if (subgroupElect()) partial[gl_SubgroupID] = top;
        barrier();
        top = partial[0];
        for (uint i = 1; i < gl_NumSubgroups; ++i) top = max(top, partial[i]);
    }
    return top;
}

// Greater than 0, in the order of the numbers; NaN above all, −0 as 0.
uint ordered(float value) {
    const uint bits = floatBitsToUint(value), size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return 0xffffffffu;
    return size == 0 || size == bits ? size | 0x80000000u : ~bits;
}

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
        const uint column = ~group_max(top == greatest ? ~at : 0);
        if (gl_LocalInvocationID.x == 0) y.at[row] = int(column);
    }
}
