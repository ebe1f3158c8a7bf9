#version 460
// One step of gradient descent with momentum (as PyTorch computes it) on up to three parameters in place.
//
//     g ← clip·g + wd·p;  b ← μ·b + g;  p ← p − lr·b,  or with NESTEROV p ← p − lr·(g + μ·b);  without MOMENTUM b = g
//
// Shapes: p, g, b alike; rates [4] of which the first is lr; clip [] (CLIPPED), negative to skip the step. b starts
// as 0.
#include "lib/args.glsl"
#include "lib/flush.glsl"
#define TENSORS 3
#include "lib/pack.glsl"

layout(constant_id = 2) const float MOMENTUM = 0.0;
layout(constant_id = 3) const bool NESTEROV = false;
layout(constant_id = 4) const bool CLIPPED = false;
layout(constant_id = 5) const float DECAY0 = 0.0;
layout(constant_id = 6) const float DECAY1 = 0.0;
layout(constant_id = 7) const float DECAY2 = 0.0;
layout(constant_id = 8) const uint PAIR = APART;

layout(push_constant, scalar) uniform Args {
    InOut p0, p1, p2;
    In g0, g1, g2;
    InOut m0, m1, m2;
    In rates;
    In clip;
    uint n0, n1, n2;
    uint per_group;
};

void step(InOut p, In gradient, InOut m, float factor, float decay, float rate, uint i, bool two) {
    const vec2 old_p = load_some(In(p), i, two, PAIR);
    vec2 g = flush(factor * load_some(gradient, i, two, PAIR) + decay * old_p);
    if (MOMENTUM != 0.0) {
        const vec2 b = flush(MOMENTUM * load_some(In(m), i, two, PAIR) + g);
        store_some(Out(m), i, b, two, PAIR);
        g = NESTEROV ? g + MOMENTUM * b : b;
    }
    store_some(Out(p), i, old_p - rate * g, two, PAIR);
}

void main() {
    const float factor = CLIPPED ? clip.at[0] : 1.0;
    const Part part = part_unless_skipped(uint[](n0, n1, n2), per_group, factor);
    InOut p = part.which == 0 ? p0 : part.which == 1 ? p1 : p2;
    In g = part.which == 0 ? g0 : part.which == 1 ? g1 : g2;
    InOut m = part.which == 0 ? m0 : part.which == 1 ? m1 : m2;
    const float decay = part.which == 0 ? DECAY0 : part.which == 1 ? DECAY1 : DECAY2;
    const float rate = rates.at[0];
    FOR_PAIRS(part, i) step(p, g, m, factor, decay, rate, i, true);
    if (odd_end(part)) step(p, g, m, factor, decay, rate, part.end - 1, false);
}
