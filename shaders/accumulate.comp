#version 460
// y ← y + factor·x on up to six pairs of tensors in place; with factor 0 y ← 0, and x is not read.
#include "lib/args.glsl"
#define TENSORS 6
#include "lib/pack.glsl"

layout(constant_id = 2) const bool ZERO = false;

layout(push_constant, scalar) uniform Args {
    InOut y0, y1, y2, y3, y4, y5;
    In x0, x1, x2, x3, x4, x5;
    uint n0, n1, n2, n3, n4, n5;
    uint per_group;
    float factor;
};

InOut target(uint which) {
    if (which < 3) return which == 0 ? y0 : which == 1 ? y1 : y2;
    return which == 3 ? y3 : which == 4 ? y4 : y5;
}

In source(uint which) {
    if (which < 3) return which == 0 ? x0 : which == 1 ? x1 : x2;
    return which == 3 ? x3 : which == 4 ? x4 : x5;
}

void main() {
    const Part part = part_of(uint[](n0, n1, n2, n3, n4, n5), per_group);
    InOut y = target(part.which);
    In x = source(part.which);
    for (uint i = part.first + gl_LocalInvocationID.x; i < part.end; i += GROUP) {
        if (ZERO) y.at[i] = 0.0;
        else y.at[i] += factor * x.at[i];
    }
}
