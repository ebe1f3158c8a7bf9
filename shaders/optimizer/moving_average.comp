#version 460
// Exponential moving averages of many tensors, in place:
//
//     average ← average + weight·(x − average)
//
// Shapes: average, x alike; clip [], negative if the optimiser skipped its step; then the averages stay the same.
#include "lib/args.glsl"
#include "optimizer/tensor_chunks.glsl"

layout(constant_id = 2) const uint LAYOUT = SCALAR;

struct Row {
    InOut average;
    In x;
};
TABLE Rows { Row at[]; };

layout(push_constant) uniform Args {
    Rows rows;
    Parts parts;
    uint groups;
    In clip;
    float weight;
};

void step(Row row, uint i, bool two) {
    const vec2 average = load_some(In(row.average), i, two, LAYOUT);
    store_some(Out(row.average), i, average + weight * (load_some(row.x, i, two, LAYOUT) - average), two, LAYOUT);
}

void main() {
    const Part part = part_unless_skipped(parts, groups, clip.at[0]);
    Row row = rows.at[part.row];
    FOR_PAIRS(part, i) step(row, i, true);
    if (odd_end(part)) step(row, part.end - 1, false);
}
