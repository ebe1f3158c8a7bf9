#version 460
// First half of a SET-Adam step on many parameters: the moments, and the statistics of v for the second half.
//
//     g ← clip·g + wd·p;  m ← m + (1−β1)(g − m);  v ← v + (1−β2)(g² − v);  partials[group] = Σv, Σv², min v
//
// Shapes: p, g, m, v alike; clip [] (CLIPPED), negative to skip the step; partials three numbers per workgroup.
// Numerics: as adamw. v below 1e-16 is left out of Σv², to which the second half adds 1e-20.
#include "lib/args.glsl"
#include "lib/flush.glsl"
#include "lib/group.glsl"
#include "optimizer/tensor_chunks.glsl"

layout(constant_id = 2) const float ONE_MINUS_BETA1 = 0.1;
layout(constant_id = 3) const float ONE_MINUS_BETA2 = 0.001;
layout(constant_id = 4) const bool CLIPPED = false;
layout(constant_id = 5) const uint LAYOUT = SCALAR;

struct Row {
    In p;
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
    In clip;
    Out partials;
};

float sum = 0.0, squares = 0.0, least = 3.4e38;  // statistics of this invocation's v

void step(Row row, float factor, uint i, bool two) {
    vec2 g = factor * load_some(row.g, i, two, LAYOUT);
    if (row.decay != 0.0) g += row.decay * load_some(row.p, i, two, LAYOUT);
    g = flush(g);
    const vec2 old_m = load_some(In(row.m), i, two, LAYOUT);
    const vec2 old_v = load_some(In(row.v), i, two, LAYOUT);
    const vec2 new_v = flush(old_v + ONE_MINUS_BETA2 * (square(g) - old_v));
    store_some(Out(row.m), i, flush(old_m + ONE_MINUS_BETA1 * (g - old_m)), two, LAYOUT);
    store_some(Out(row.v), i, new_v, two, LAYOUT);
    const vec2 large = mix(new_v, vec2(0.0), lessThan(new_v, vec2(1e-16)));
    sum += new_v.x + new_v.y;
    squares += dot(large, large);
    least = min(least, two ? min(new_v.x, new_v.y) : new_v.x);
}

void main() {
    const float factor = CLIPPED ? clip.at[0] : 1.0;
    const Part part = part_unless_skipped(parts, groups, factor);
    Row row = rows.at[part.row];
    FOR_PAIRS(part, i) step(row, factor, i, true);
    if (odd_end(part)) step(row, factor, part.end - 1, false);
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
