#version 460
// Second half of a SET-Adam step (Zhang, ECML 2024), per tensor of n elements: down-scaling, ε-embedding,
// down-translating.
//
//     c² = (Σv)² / (n·(Σv² + 1e-20));  w = √(c²·v/(1−β2^t) + ε);  p ← p − lr/(1−β1^t) · m / (w − ½ min w)
//
// Shapes: p, m, v alike; rates and clip as in adamw; partials from setadam_moments, which has the same grid.
// Numerics: w − ½ min w ≥ ½ √ε: no cancellation. w grows with v, so min w is computed from min v.
#include "lib/args.glsl"
#include "lib/group.glsl"
#include "optimizer/tensor_chunks.glsl"

layout(constant_id = 2) const float EPSILON = 1e-8;
layout(constant_id = 3) const bool CLIPPED = false;
layout(constant_id = 4) const uint LAYOUT = SCALAR;

struct Row {
    InOut p;
    In m;
    In v;
    uint count;   // elements
    uint start;   // index of the tensor's first workgroup
    uint groups;  // workgroups of the tensor
};
TABLE Rows { Row at[]; };

layout(push_constant) uniform Args {
    Rows rows;
    Parts parts;
    uint groups;
    In rates;
    In clip;
    In partials;
};

void step(Row row, float shrink, float shift, float rate, uint i, bool two) {
    const vec2 divisor = sqrt(shrink * load_some(row.v, i, two, LAYOUT) + EPSILON) - shift;
    const vec2 change = rate * (load_some(row.m, i, two, LAYOUT) / divisor);
    store_some(Out(row.p), i, load_some(In(row.p), i, two, LAYOUT) - change, two, LAYOUT);
}

void main() {
    const float factor = CLIPPED ? clip.at[0] : 1.0;
    const Part part = part_unless_skipped(parts, groups, factor);
    Row row = rows.at[part.row];
    float sum = 0.0, squares = 0.0, least = 3.4e38;
    for (uint k = gl_LocalInvocationID.x; k < row.groups; k += GROUP) {
        const uint at = 3 * (row.start + k);
        sum += partials.at[at];
        squares += partials.at[at + 1];
        least = min(least, partials.at[at + 2]);
    }
    sum = group_sum(sum);
    squares = group_sum(squares);
    least = -group_max(-least);
    const float shrink = sum / float(row.count) * (sum / (squares + 1e-20)) * rates.at[2];
    const float shift = 0.5 * sqrt(shrink * least + EPSILON);
    const float rate = rates.at[1];
    FOR_PAIRS(part, i) step(row, shrink, shift, rate, i, true);
    if (odd_end(part)) step(row, shrink, shift, rate, part.end - 1, false);
}
