#version 460
// y ← y + factor·x on up to six pairs of tensors in place; with ZERO y ← 0, and x is not read.
#include "lib/args.glsl"
#define TENSORS 6
#include "lib/pack.glsl"

layout(constant_id = 2) const bool ZERO = false;
layout(constant_id = 3) const uint PAIR = APART;

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

void step(InOut y, In x, uint i, bool two) {
    vec2 value = vec2(0.0);
    if (!ZERO) value = load_some(In(y), i, two, PAIR) + factor * load_some(x, i, two, PAIR);
    store_some(Out(y), i, value, two, PAIR);
}

void main() {
    const Part part = part_of(uint[](n0, n1, n2, n3, n4, n5), per_group);
    InOut y = target(part.which);
    In x = source(part.which);
    FOR_PAIRS(part, i) step(y, x, i, true);
    if (odd_end(part)) step(y, x, part.end - 1, false);
}
