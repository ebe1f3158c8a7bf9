#version 460
// partials[group] = Σ |x| over the workgroup's `per_group` consecutive elements of x [count].
//
// Numerics: fp32; a lane adds its elements in order, then the lanes are added in a fixed order.
#include "lib/args.glsl"
#include "lib/group.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint LAYOUT = SCALAR;

layout(push_constant) uniform Args {
    In x;
    Out partials;
    uint count;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, count);
    float sum = 0.0;
    for (uint i = first + 2 * gl_LocalInvocationID.x; i < end; i += 2 * GROUP) {
        const vec2 size = abs(load_some(x, i, i + 1 < end, LAYOUT));
        sum += i + 1 < end ? size.x + size.y : size.x;
    }
    sum = group_sum(sum);
    if (gl_LocalInvocationID.x == 0 && first < count) partials.at[group_index()] = sum;
}
