#version 460
// First half of a SET-Adam step on up to three parameters: the moments, and what the second half needs to know of v.
//
//     g ← clip·g + wd·p;  m ← m + (1−β1)(g − m);  v ← v + (1−β2)(g² − v);  partials[group] = Σv, Σv², min v
//
// Shapes: p, g, m, v alike; clip [] (CLIPPED); partials three numbers per workgroup.
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

void main() {
    const Part part = part_of(uint[](n0, n1, n2), per_group);
    In p = part.which == 0 ? p0 : part.which == 1 ? p1 : p2;
    In gradient = part.which == 0 ? g0 : part.which == 1 ? g1 : g2;
    InOut m = part.which == 0 ? m0 : part.which == 1 ? m1 : m2;
    InOut v = part.which == 0 ? v0 : part.which == 1 ? v1 : v2;
    const float decay = part.which == 0 ? DECAY0 : part.which == 1 ? DECAY1 : DECAY2;
    const float factor = CLIPPED ? clip.at[0] : 1.0;
    float sum = 0.0, squares = 0.0, least = 3.4e38;
    for (uint i = part.first + gl_LocalInvocationID.x; i < part.end; i += GROUP) {
        float g = factor * gradient.at[i];
        if (decay != 0.0) g += decay * p.at[i];
        g = flush(g);
        const float g2 = abs(g) < 1e-15 ? 0.0 : g * g;
        const float old_m = m.at[i], old_v = v.at[i];
        const float new_v = flush(old_v + ONE_MINUS_BETA2 * (g2 - old_v));
        m.at[i] = flush(old_m + ONE_MINUS_BETA1 * (g - old_m));
        v.at[i] = new_v;
        sum += new_v;
        squares += new_v < 1e-16 ? 0.0 : new_v * new_v;
        least = min(least, new_v);
    }
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
