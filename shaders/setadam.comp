#version 460
// Second half of a SET-Adam step (Zhang, ECML 2024), per tensor of n elements: down-scaling, ε-embedding,
// down-translating.
//
//     c² = (Σv)² / (n·(Σv² + 1e-20));  w = √(c²·v/(1−β2^t) + ε);  p ← p − lr/(1−β1^t) · m / (w − ½ min w)
//
// Shapes: p, m, v alike; rates and clip as in adamw; partials from setadam_moments, of which this is the same grid.
// Numerics: w − ½ min w ≥ ½ √ε: no cancellation. w grows with v, so min w is the w of min v.
#include "lib/args.glsl"
#include "lib/group.glsl"
#define TENSORS 3
#include "lib/pack.glsl"

layout(constant_id = 2) const float EPSILON = 1e-8;
layout(constant_id = 3) const bool CLIPPED = false;
layout(constant_id = 4) const uint PAIR = APART;

layout(push_constant, scalar) uniform Args {
    InOut p0, p1, p2;
    In m0, m1, m2;
    In v0, v1, v2;
    In rates;
    In clip;
    In partials;
    uint n0, n1, n2;
    uint per_group;
};

void step(InOut p, In m, In v, float shrink, float shift, float rate, uint i, bool two) {
    const vec2 divisor = sqrt(shrink * load_some(v, i, two, PAIR) + EPSILON) - shift;
    const vec2 change = rate * (load_some(m, i, two, PAIR) / divisor);
    store_some(Out(p), i, load_some(In(p), i, two, PAIR) - change, two, PAIR);
}

void main() {
    const float factor = CLIPPED ? clip.at[0] : 1.0;
    const Part part = part_unless_skipped(uint[](n0, n1, n2), per_group, factor);
    InOut p = part.which == 0 ? p0 : part.which == 1 ? p1 : p2;
    In m = part.which == 0 ? m0 : part.which == 1 ? m1 : m2;
    In v = part.which == 0 ? v0 : part.which == 1 ? v1 : v2;
    const uint count = part.which == 0 ? n0 : part.which == 1 ? n1 : n2;
    float sum = 0.0, squares = 0.0, least = 3.4e38;
    for (uint k = gl_LocalInvocationID.x; k < part.groups; k += GROUP) {
        const uint at = 3 * (part.group + k);
        sum += partials.at[at];
        squares += partials.at[at + 1];
        least = min(least, partials.at[at + 2]);
    }
    sum = group_sum(sum);
    squares = group_sum(squares);
    least = -group_max(-least);
    const float shrink = sum / float(count) * (sum / (squares + 1e-20)) * rates.at[2];
    const float shift = 0.5 * sqrt(shrink * least + EPSILON);
    const float rate = rates.at[1];
    FOR_PAIRS(part, i) step(p, m, v, shrink, shift, rate, i, true);
    if (odd_end(part)) step(p, m, v, shrink, shift, rate, part.end - 1, false);
}
