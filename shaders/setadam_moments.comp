#version 460
// First half of a SET-Adam step on up to three parameters: the moments, and what the second half needs to know of v.
//
//     g ← clip·g + wd·p;  m ← m + (1−β1)(g − m);  v ← v + (1−β2)(g² − v);  partials[group] = Σv, Σv², min v
//
// Shapes: p, g, m, v alike; clip [] (CLIPPED), negative to skip the step; partials three numbers per workgroup.
// Numerics: as adamw. v below 1e-16 is left out of Σv², to which 1e-20 is added later.
#include "lib/args.glsl"
#include "lib/flush.glsl"
#include "lib/group.glsl"
#define TENSORS 3
#include "lib/pack.glsl"

layout(constant_id = 2) const float ONE_MINUS_BETA1 = 0.1;
layout(constant_id = 3) const float ONE_MINUS_BETA2 = 0.001;
layout(constant_id = 4) const bool CLIPPED = false;
layout(constant_id = 5) const float DECAY0 = 0.0;
layout(constant_id = 6) const float DECAY1 = 0.0;
layout(constant_id = 7) const float DECAY2 = 0.0;
layout(constant_id = 8) const uint PAIR = APART;

layout(push_constant, scalar) uniform Args {
    In p0, p1, p2;
    In g0, g1, g2;
    InOut m0, m1, m2;
    InOut v0, v1, v2;
    In clip;
    Out partials;
    uint n0, n1, n2;
    uint per_group;
};

float sum = 0.0, squares = 0.0, least = 3.4e38;  // of this invocation's v

void step(In p, In gradient, InOut m, InOut v, float factor, float decay, uint i, bool two) {
    vec2 g = factor * load_some(gradient, i, two, PAIR);
    if (decay != 0.0) g += decay * load_some(p, i, two, PAIR);
    g = flush(g);
    const vec2 old_m = load_some(In(m), i, two, PAIR);
    const vec2 old_v = load_some(In(v), i, two, PAIR);
    const vec2 new_v = flush(old_v + ONE_MINUS_BETA2 * (square(g) - old_v));
    store_some(Out(m), i, flush(old_m + ONE_MINUS_BETA1 * (g - old_m)), two, PAIR);
    store_some(Out(v), i, new_v, two, PAIR);
    const vec2 large = mix(new_v, vec2(0.0), lessThan(new_v, vec2(1e-16)));
    sum += new_v.x + new_v.y;
    squares += dot(large, large);
    least = min(least, two ? min(new_v.x, new_v.y) : new_v.x);
}

void main() {
    const float factor = CLIPPED ? clip.at[0] : 1.0;
    const Part part = part_unless_skipped(uint[](n0, n1, n2), per_group, factor);
    In p = part.which == 0 ? p0 : part.which == 1 ? p1 : p2;
    In g = part.which == 0 ? g0 : part.which == 1 ? g1 : g2;
    InOut m = part.which == 0 ? m0 : part.which == 1 ? m1 : m2;
    InOut v = part.which == 0 ? v0 : part.which == 1 ? v1 : v2;
    const float decay = part.which == 0 ? DECAY0 : part.which == 1 ? DECAY1 : DECAY2;
    FOR_PAIRS(part, i) step(p, g, m, v, factor, decay, i, true);
    if (odd_end(part)) step(p, g, m, v, factor, decay, part.end - 1, false);
    sum = group_sum(sum);
    squares = group_sum(squares);
    least = -group_max(-least);
    if (gl_LocalInvocationID.x == 0 && part.end > part.first) {
        const uint at = 3 * group_index();
        partials.at[at] = sum;
        partials.at[at + 1] = squares;
        partials.at[at + 2] = least;
    }
}
