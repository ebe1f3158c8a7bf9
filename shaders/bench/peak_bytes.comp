#version 460
// Peak bandwidth of the device's memory: copies a part of x to the same part of y in 64-bit words. Neighbouring
// invocations move neighbouring words.
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"

layout(push_constant) uniform Args {
    In x;
    Out y;
    uint start;  // in words
    uint count;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, count);
    for (uint i = first + gl_LocalInvocationID.x; i < end; i += GROUP)
        store_two(y, 2 * (start + i), load_two(x, 2 * (start + i), VEC2), VEC2);
}
