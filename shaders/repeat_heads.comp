#version 460
// Each head of a row `repeat` times over, as grouped-query attention reads it; or with FOLD its adjoint: the sum of
// each head's copies, in their order.
//
// Shapes: x [rows, heads·head], y [rows, heads·repeat·head], exchanged with FOLD; y contiguous. A workgroup takes
// `per_group` consecutive (row, head) pairs, its invocations along the head.
#include "lib/args.glsl"

layout(constant_id = 2) const bool FOLD = false;

layout(push_constant, scalar) uniform Args {
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
        for (uint j = gl_LocalInvocationID.x; j < head; j += GROUP) {
            float value = x.at[x_at + j];
            if (FOLD) {
                for (uint r = 1; r < repeat; ++r) value += x.at[x_at + r * head + j];
                y.at[y_at + j] = value;
            } else {
                for (uint r = 0; r < repeat; ++r) y.at[y_at + r * head + j] = value;
            }
        }
    }
}
