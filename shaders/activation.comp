// y = kind(x) elementwise.
//
// Each workgroup sweeps per_group consecutive elements, its lanes side by side.
#version 460
#include "lib/args.glsl"
#include "lib/activation.glsl"

layout(constant_id = 2) const uint KIND = 1;

layout(push_constant, scalar) uniform Args {
    In x;
    Out y;
    uint count;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, count);
    for (uint i = first + gl_LocalInvocationID.x; i < end; i += GROUP)
        y.at[i] = activation(KIND, x.at[i]);
}
