#version 460
// y ← y + factor·x for many pairs of tensors, in place; with ZERO y ← 0, and x is not read.
#include "lib/args.glsl"
#include "optimizer/tensor_chunks.glsl"

layout(constant_id = 2) const bool ZERO = false;
layout(constant_id = 3) const uint LAYOUT = SCALAR;

struct Row {
    InOut y;
    In x;
};
TABLE Rows { Row at[]; };

layout(push_constant) uniform Args {
    Rows rows;
    Parts parts;
    uint groups;
    float factor;
};

void step(Row row, uint i, bool two) {
    vec2 value = vec2(0.0);
    if (!ZERO) value = load_some(In(row.y), i, two, LAYOUT) + factor * load_some(row.x, i, two, LAYOUT);
    store_some(Out(row.y), i, value, two, LAYOUT);
}

void main() {
    const Part part = part_of(parts, groups);
    Row row = rows.at[part.row];
    FOR_PAIRS(part, i) step(row, i, true);
    if (odd_end(part)) step(row, part.end - 1, false);
}
