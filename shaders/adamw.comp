#version 460
// One step of AdamW (Loshchilov & Hutter 2019, algorithm 2, as PyTorch computes it) on up to three parameters in place.
//
//     g ← clip·g;  m ← m + (1−β1)(g − m);  v ← v + (1−β2)(g² − v)
//     p ← p − lr·wd·p − lr/(1−β1^t) · m / (√v/√(1−β2^t) + ε)
//
// Shapes: p, g, m, v alike; rates [4] = lr, lr/(1−β1^t), 1/(1−β2^t), 1/√(1−β2^t); clip [] (CLIPPED), negative to skip
// the step.
// Numerics: ONE_MINUS_BETA come rounded from double, since 1 − 0.999f is off by 1e-5. m, v and clipped g below 1e-30,
// and g² below it, count as 0: p then differs by less than 1e-15/ε of a step.
#include "lib/args.glsl"
#include "lib/flush.glsl"
#define TENSORS 3
#include "lib/pack.glsl"

layout(constant_id = 2) const float ONE_MINUS_BETA1 = 0.1;
layout(constant_id = 3) const float ONE_MINUS_BETA2 = 0.001;
layout(constant_id = 4) const float EPSILON = 1e-8;
layout(constant_id = 5) const bool CLIPPED = false;
layout(constant_id = 6) const float DECAY0 = 0.0;
layout(constant_id = 7) const float DECAY1 = 0.0;
layout(constant_id = 8) const float DECAY2 = 0.0;
layout(constant_id = 9) const uint PAIR = APART;

layout(push_constant, scalar) uniform Args {
    InOut p0, p1, p2;
    In g0, g1, g2;
    InOut m0, m1, m2;
    InOut v0, v1, v2;
    In rates;
    In clip;
    uint n0, n1, n2;
    uint per_group;
};

struct Rates {
    float factor;  // of the gradient
    float decay;
    float rate;
    float unbias;
};

void step(InOut p, In gradient, InOut m, InOut v, Rates now, uint i, bool two) {
    const vec2 g = flush(now.factor * load_some(gradient, i, two, PAIR));
    const vec2 old_p = load_some(In(p), i, two, PAIR);
    const vec2 old_m = load_some(In(m), i, two, PAIR);
    const vec2 old_v = load_some(In(v), i, two, PAIR);
    const vec2 new_m = flush(old_m + ONE_MINUS_BETA1 * (g - old_m));
    const vec2 new_v = flush(old_v + ONE_MINUS_BETA2 * (square(g) - old_v));
    store_some(Out(m), i, new_m, two, PAIR);
    store_some(Out(v), i, new_v, two, PAIR);
    const vec2 change = new_m / (sqrt(new_v) * now.unbias + EPSILON);
    store_some(Out(p), i, old_p - now.decay * old_p - now.rate * change, two, PAIR);
}

void main() {
    const float factor = CLIPPED ? clip.at[0] : 1.0;
    const Part part = part_unless_skipped(uint[](n0, n1, n2), per_group, factor);
    InOut p = part.which == 0 ? p0 : part.which == 1 ? p1 : p2;
    In g = part.which == 0 ? g0 : part.which == 1 ? g1 : g2;
    InOut m = part.which == 0 ? m0 : part.which == 1 ? m1 : m2;
    InOut v = part.which == 0 ? v0 : part.which == 1 ? v1 : v2;
    const float decay = part.which == 0 ? DECAY0 : part.which == 1 ? DECAY1 : DECAY2;
    const Rates now = Rates(factor, rates.at[0] * decay, rates.at[1], rates.at[3]);
    FOR_PAIRS(part, i) step(p, g, m, v, now, i, true);
    if (odd_end(part)) step(p, g, m, v, now, part.end - 1, false);
}
