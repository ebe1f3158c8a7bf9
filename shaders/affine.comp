#version 460
// y = factor · x + shift elementwise; with CONSTANT set there is no x and y = shift.
#include "lib/args.glsl"

layout(constant_id = 2) const bool CONSTANT = false;

layout(push_constant, scalar) uniform Args {
    In x;
    Out y;
    uint count;
    uint per_group;
    float factor;
    float shift;
};

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, count);
    for (uint i = first + gl_LocalInvocationID.x; i < end; i += GROUP)
        y.at[i] = CONSTANT ? shift : fma(factor, x.at[i], shift);
}
