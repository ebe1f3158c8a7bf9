// y = factor · x + shift elementwise; with CONSTANT set there is no x and y = shift.
#version 460
#include "lib/args.glsl"
#include "lib/sweep_pairs.glsl"

layout(constant_id = 2) const bool CONSTANT = false;
layout(constant_id = 3) const uint PAIR = APART;    // of x
layout(constant_id = 4) const uint PAIR_Y = APART;  // of y

layout(push_constant, scalar) uniform Args {
    In x;
    Out y;
    uint count;
    uint per_group;
    float factor;
    float shift;
};

void step(uint i, bool two) {
    vec2 value = vec2(shift);
    if (!CONSTANT) value = fma(vec2(factor), load_some(x, i, two, PAIR), vec2(shift));
    store_some(y, i, value, two, PAIR_Y);
}

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, count);
    FOR_PAIRS_IN(first, end, i) step(i, true);
    if (odd_end(first, end)) step(end - 1, false);
}
