// y = kind(x) elementwise.
//
// Each workgroup sweeps per_group consecutive elements.
#version 460
#include "lib/args.glsl"
#include "lib/activation.glsl"
#include "lib/sweep_pairs.glsl"

layout(constant_id = 2) const uint KIND = 1;
layout(constant_id = 3) const uint PAIR = APART;

layout(push_constant, scalar) uniform Args {
    In x;
    Out y;
    uint count;
    uint per_group;
};

void step(uint i, bool two) {
    const vec2 v = load_some(x, i, two, PAIR);
    store_some(y, i, vec2(activation(KIND, v.x), activation(KIND, v.y)), two, PAIR);
}

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, count);
    FOR_PAIRS_IN(first, end, i) step(i, true);
    if (odd_end(first, end)) step(end - 1, false);
}
