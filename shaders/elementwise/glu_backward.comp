#version 460
// Gradients of y = kind(gate) · up: d_gate = kind'(gate) · up · d_y and d_up = kind(gate) · d_y, elementwise.
//
// Shapes: all [count]. A workgroup sweeps `per_group` consecutive elements, a pair per invocation. A gradient may
// overwrite an input.
#include "lib/args.glsl"
#include "elementwise/activation.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint KIND = SILU;
layout(constant_id = 3) const uint LAYOUT_GATE = SCALAR;
layout(constant_id = 4) const uint LAYOUT_UP = SCALAR;
layout(constant_id = 5) const uint LAYOUT_D = SCALAR;
layout(constant_id = 6) const uint LAYOUT_D_GATE = SCALAR;
layout(constant_id = 7) const uint LAYOUT_D_UP = SCALAR;

layout(push_constant) uniform Args {
    In gate;
    In up;
    In d_y;
    Out d_gate;
    Out d_up;
    uint count;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, count);
    for (uint i = first + 2 * gl_LocalInvocationID.x; i < end; i += 2 * GROUP) {
        const bool two = i + 1 < end;
        const vec2 g = load_some(gate, i, two, LAYOUT_GATE);
        const vec2 u = load_some(up, i, two, LAYOUT_UP);
        const vec2 d = load_some(d_y, i, two, LAYOUT_D);
        const vec2 slope = vec2(activation_slope(KIND, g.x), activation_slope(KIND, g.y));
        store_some(d_gate, i, slope * u * d, two, LAYOUT_D_GATE);
        store_some(d_up, i, vec2(activation(KIND, g.x), activation(KIND, g.y)) * d, two, LAYOUT_D_UP);
    }
}
