#version 460
// Repeats each head of a row `repeat` times, as grouped-query attention reads it. With FOLD computes the adjoint: the
// sum of each head's copies, in their order.
//
// Shapes: x [rows, heads·head], y [rows, heads·repeat·head], exchanged with FOLD; y contiguous. A workgroup takes
// `per_group` consecutive (row, head) pairs, a pair of columns per invocation.
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const bool FOLD = false;
layout(constant_id = 3) const uint LAYOUT_X = SCALAR;
layout(constant_id = 4) const uint LAYOUT_Y = SCALAR;

layout(push_constant) uniform Args {
    In x;
    Out y;
    uint rows;
    uint heads;
    uint repeat;
    uint head;
    uint x_pitch;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, rows * heads);
    for (uint i = first; i < end; ++i) {
        const uint x_at = i / heads * x_pitch + i % heads * head * (FOLD ? repeat : 1);
        const uint y_at = i * head * (FOLD ? 1 : repeat);
        for (uint j = 2 * gl_LocalInvocationID.x; j < head; j += 2 * GROUP) {
            const bool two = j + 1 < head;
            vec2 value = load_some(x, x_at + j, two, LAYOUT_X);
            if (FOLD) {
                for (uint r = 1; r < repeat; ++r) value += load_some(x, x_at + r * head + j, two, LAYOUT_X);
                store_some(y, y_at + j, value, two, LAYOUT_Y);
            } else {
                for (uint r = 0; r < repeat; ++r) store_some(y, y_at + r * head + j, value, two, LAYOUT_Y);
            }
        }
    }
}
