// d_x = d_y · kind'(x) elementwise, x being the saved input.
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
    In d_y;
    Out d_x;
    uint count;
    uint per_group;
};

void step(uint i, bool two) {
    const vec2 v = load_some(x, i, two, PAIR);
    const vec2 slope = vec2(activation_slope(KIND, v.x), activation_slope(KIND, v.y));
    store_some(d_x, i, load_some(d_y, i, two, PAIR) * slope, two, PAIR);
}

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, count);
    FOR_PAIRS_IN(first, end, i) step(i, true);
    if (odd_end(first, end)) step(end - 1, false);
}
