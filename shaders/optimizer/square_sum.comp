#version 460
// partials[group] = Σ x² over the workgroup's chunk of one of many tensors.
//
// Numerics: fp32; numbers below 1e-18, whose squares would be subnormal, count as 0.
#include "lib/args.glsl"
#include "lib/group.glsl"
#include "optimizer/tensor_chunks.glsl"

layout(constant_id = 2) const uint LAYOUT = SCALAR;

struct Row {
    In x;
};
TABLE Rows { Row at[]; };

layout(push_constant) uniform Args {
    Rows rows;
    Parts parts;
    uint groups;
    Out partials;
};

float squares(vec2 x) {
    const vec2 large = mix(x, vec2(0.0), lessThan(abs(x), vec2(1e-18)));
    return dot(large, large);
}

void main() {
    const Part part = part_of(parts, groups);
    Row row = rows.at[part.row];
    float sum = 0.0;
    FOR_PAIRS(part, i) sum += squares(load_two(row.x, i, LAYOUT));
    if (odd_end(part)) sum += squares(vec2(row.x.at[part.end - 1], 0.0));
    sum = group_sum(sum);
    if (gl_LocalInvocationID.x == 0 && group_index() < groups) partials.at[group_index()] = sum;
}
