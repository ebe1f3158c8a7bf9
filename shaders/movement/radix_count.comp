// Counts the keys of a section by one digit: the first half of a pass of a radix sort
// (runtime/ops/movement/radix_sort.h).
//
// Shapes: keys [rows], order [rows] (indices of the keys in the order of the previous pass; not read if FIRST), counts
// [sections, 256]. A workgroup counts one section. Keys are clamped to [0, key_count).
#version 460
#include "lib/args.glsl"
#include "movement/radix.glsl"

layout(push_constant) uniform Args {
    InInt keys;
    InInt order;
    OutInt counts;
    uint rows;
    uint key_count;
    uint shift;
};

shared uint digit_count[RADIX];

void main() {
    const uint lane = gl_LocalInvocationID.x, section = group_index();
    for (uint d = lane; d < RADIX; d += GROUP) digit_count[d] = 0;
    barrier();
    const uint end = min((section + 1) * SECTION, rows);
    for (uint i = section * SECTION + lane; i < end; i += GROUP)
        atomicAdd(digit_count[digit_of(keys, FIRST ? i : uint(order.at[i]), key_count, shift)], 1);
    barrier();
    for (uint d = lane; d < RADIX; d += GROUP) counts.at[section * RADIX + d] = int(digit_count[d]);
}
