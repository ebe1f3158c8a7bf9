#version 460
// One step of AdamW (Loshchilov & Hutter 2019, algorithm 2, as PyTorch computes it) on many parameters, in place.
//
//     g ← clip·g;  m ← m + (1−β1)(g − m);  v ← v + (1−β2)(g² − v)
//     p ← p − lr·wd·p − lr/(1−β1^t) · m / (√v/√(1−β2^t) + ε)
//
// Shapes: p, g, m, v alike; rates [4] = lr, lr/(1−β1^t), 1/(1−β2^t), 1/√(1−β2^t); clip [] (CLIPPED), negative to skip
// the step.
// Numerics: ONE_MINUS_BETA1 and ONE_MINUS_BETA2 are rounded from double, because 1 − 0.999f is off by 1e-5. m, v,
// clipped g and g² below 1e-30 count as 0, which changes p by less than 1e-15/ε of a step.
#include "lib/args.glsl"
#include "lib/flush.glsl"
#include "optimizer/tensor_chunks.glsl"

layout(constant_id = 2) const float ONE_MINUS_BETA1 = 0.1;
layout(constant_id = 3) const float ONE_MINUS_BETA2 = 0.001;
layout(constant_id = 4) const float EPSILON = 1e-8;
layout(constant_id = 5) const bool CLIPPED = false;
layout(constant_id = 6) const uint LAYOUT = SCALAR;

struct Row {
    InOut p;
    In g;
    InOut m;
    InOut v;
    float decay;
};
TABLE Rows { Row at[]; };

layout(push_constant) uniform Args {
    Rows rows;
    Parts parts;
    uint groups;
    In rates;
    In clip;
};

struct Rates {
    float factor;  // factor of the gradient
    float decay;
    float rate;
    float unbias;
};

void step(Row row, Rates now, uint i, bool two) {
    const vec2 g = flush(now.factor * load_some(row.g, i, two, LAYOUT));
    const vec2 old_p = load_some(In(row.p), i, two, LAYOUT);
    const vec2 old_m = load_some(In(row.m), i, two, LAYOUT);
    const vec2 old_v = load_some(In(row.v), i, two, LAYOUT);
    const vec2 new_m = flush(old_m + ONE_MINUS_BETA1 * (g - old_m));
    const vec2 new_v = flush(old_v + ONE_MINUS_BETA2 * (square(g) - old_v));
    store_some(Out(row.m), i, new_m, two, LAYOUT);
    store_some(Out(row.v), i, new_v, two, LAYOUT);
    const vec2 change = new_m / (sqrt(new_v) * now.unbias + EPSILON);
    store_some(Out(row.p), i, old_p - now.decay * old_p - now.rate * change, two, LAYOUT);
}

void main() {
    const float factor = CLIPPED ? clip.at[0] : 1.0;
    const Part part = part_unless_skipped(parts, groups, factor);
    Row row = rows.at[part.row];
    const Rates now = Rates(factor, rates.at[0] * row.decay, rates.at[1], rates.at[3]);
    FOR_PAIRS(part, i) step(row, now, i, true);
    if (odd_end(part)) step(row, now, part.end - 1, false);
}
