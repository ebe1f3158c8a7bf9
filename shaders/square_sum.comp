#version 460
// partials[first + group] = Σ x² over the workgroup's part of up to eight tensors.
//
// Numerics: fp32; numbers below 1e-18, whose squares would be subnormal, count as 0.
#include "lib/args.glsl"
#include "lib/group.glsl"
#define TENSORS 8
#include "lib/pack.glsl"

layout(constant_id = 2) const uint PAIR = APART;

layout(push_constant, scalar) uniform Args {
    In x0, x1, x2, x3, x4, x5, x6, x7;
    Out partials;
    uint n0, n1, n2, n3, n4, n5, n6, n7;
    uint first;
    uint per_group;
};

In tensor(uint which) {
    if (which < 4) return which == 0 ? x0 : which == 1 ? x1 : which == 2 ? x2 : x3;
    return which == 4 ? x4 : which == 5 ? x5 : which == 6 ? x6 : x7;
}

float squares(vec2 x) {
    const vec2 large = mix(x, vec2(0.0), lessThan(abs(x), vec2(1e-18)));
    return dot(large, large);
}

void main() {
    const Part part = part_of(uint[](n0, n1, n2, n3, n4, n5, n6, n7), per_group);
    In x = tensor(part.which);
    float sum = 0.0;
    FOR_PAIRS(part, i) sum += squares(load_two(x, i, PAIR));
    if (odd_end(part)) sum += squares(vec2(x.at[part.end - 1], 0.0));
    sum = group_sum(sum);
    if (gl_LocalInvocationID.x == 0 && part.end > part.first) partials.at[first + group_index()] = sum;
}
