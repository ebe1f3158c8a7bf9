#version 460
// One step of gradient descent with momentum (as PyTorch computes it) on many parameters, in place.
//
//     g ← clip·g + wd·p;  b ← μ·b + g;  p ← p − lr·b,  or with NESTEROV p ← p − lr·(g + μ·b);  without MOMENTUM b = g
//
// Shapes: p, g, b alike; rates [4], the first is lr; clip [] (CLIPPED), negative to skip the step. b starts as 0.
#include "lib/args.glsl"
#include "lib/flush.glsl"
#include "optimizer/tensor_chunks.glsl"

layout(constant_id = 2) const float MOMENTUM = 0.0;
layout(constant_id = 3) const bool NESTEROV = false;
layout(constant_id = 4) const bool CLIPPED = false;
layout(constant_id = 5) const uint LAYOUT = SCALAR;

struct Row {
    InOut p;
    In g;
    InOut m;
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

void step(Row row, float factor, float rate, uint i, bool two) {
    const vec2 old_p = load_some(In(row.p), i, two, LAYOUT);
    vec2 g = flush(factor * load_some(row.g, i, two, LAYOUT) + row.decay * old_p);
    if (MOMENTUM != 0.0) {
        const vec2 b = flush(MOMENTUM * load_some(In(row.m), i, two, LAYOUT) + g);
        store_some(Out(row.m), i, b, two, LAYOUT);
        g = NESTEROV ? g + MOMENTUM * b : b;
    }
    store_some(Out(row.p), i, old_p - rate * g, two, LAYOUT);
}

void main() {
    const float factor = CLIPPED ? clip.at[0] : 1.0;
    const Part part = part_unless_skipped(parts, groups, factor);
    Row row = rows.at[part.row];
    const float rate = rates.at[0];
    FOR_PAIRS(part, i) step(row, factor, rate, i, true);
    if (odd_end(part)) step(row, factor, rate, part.end - 1, false);
}
