#version 460
// before[b, c] = initial[b] + Σ x[b, c'] over c' < c, or over c' > c in reverse; total[b] = initial[b] + Σ of all.
//
// Shapes: x, before [B, count, width], initial, total [B, width]; initial may be absent, and each result is made only
// if wanted. A workgroup takes `per_group` consecutive pairs of columns of all b, one per invocation, and goes through
// their rows. Numerics: fp32, one running sum in the order of the rows.
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint LAYOUT = SCALAR;
layout(constant_id = 3) const bool REVERSE = false;
layout(constant_id = 4) const bool INITIAL = false;
layout(constant_id = 5) const bool BEFORE = false;
layout(constant_id = 6) const bool TOTAL = false;

layout(push_constant) uniform Args {
    In x;
    In initial;
    Out before;
    Out total;
    uint pairs;
    uint per_group;
    uint count;
    uint width;
    uint x_pitch;
    uint initial_pitch;
};

void main() {
    const uint first = group_index() * per_group, end = min(first + per_group, pairs);
    const uint pairs_per_row = (width + 1) / 2;
    for (uint i = first + gl_LocalInvocationID.x; i < end; i += GROUP) {
        const uint b = i / pairs_per_row, j = i % pairs_per_row * 2;
        const bool two = j + 1 < width;
        vec2 sum = INITIAL ? load_some(initial, b * initial_pitch + j, two, LAYOUT) : vec2(0.0);
        for (uint k = 0; k < count; ++k) {
            const uint row = b * count + (REVERSE ? count - 1 - k : k);
            if (BEFORE) store_some(before, row * width + j, sum, two, LAYOUT);
            sum += load_some(x, row * x_pitch + j, two, LAYOUT);
        }
        if (TOTAL) store_some(total, b * width + j, sum, two, LAYOUT);
    }
}
