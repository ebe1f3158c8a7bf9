#version 460
// whole[b, s] = one[0, s] for s < n: copies a sequence [1, S, C] to sequence b of a cache [B, S, C]; place = (b, n).
//
// A workgroup takes `per_group` consecutive rows, a pair of columns per lane. Both sides may be in 16 bits, to which
// numbers are rounded when they are stored.
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint LAYOUT = SCALAR;  // layout of the cache
layout(constant_id = 3) const uint ONE_LAYOUT = SCALAR;

layout(push_constant) uniform Args {
    InOut whole;
    In one;
    InInt place;
    uint batches;
    uint capacity;
    uint width;
    uint one_pitch;
    uint per_group;
};

void main() {
    const int batch = place.at[0];
    if (batch < 0 || batch >= int(batches)) return;
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, uint(clamp(place.at[1], 0, int(capacity))));
    for (uint row = first; row < end; ++row) {
        const uint to = (uint(batch) * capacity + row) * width, from = row * one_pitch;
        for (uint i = 2 * gl_LocalInvocationID.x; i < width; i += 2 * GROUP) {
            const bool two = i + 1 < width;
            store_some(Out(whole), to + i, load_some(one, from + i, two, ONE_LAYOUT), two, LAYOUT);
        }
    }
}
