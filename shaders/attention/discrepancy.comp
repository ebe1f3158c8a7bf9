#version 460
// y = by_v·v + by_o·o: AttentionX, v − γ·o (000 eq 10-11) or γ·v − o (001 eq 9-10).
//
// Shapes: o, v, y [rows, WIDTH], y contiguous. A workgroup takes `per_group` consecutive rows, its invocations along
// the columns.
#include "lib/args.glsl"
#include "rows/row_registers.glsl"

layout(constant_id = 5) const uint LAYOUT_O = SCALAR;

layout(push_constant) uniform Args {
    In o;
    In v;
    Out y;
    uint rows;
    uint o_pitch;
    uint v_pitch;
    uint per_group;
    float by_o;
    float by_v;
};

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, rows);
    for (uint row = first; row < end; ++row) {
        for (uint s = 0; s < STRIPS; ++s) {
            vec2 o_s[STRIP], v_s[STRIP];
            load_strip(o, row * o_pitch, s, LAYOUT_O, o_s);
            load_strip(v, row * v_pitch, s, v_s);
            [[unroll]] for (uint k = 0; k < STRIP; ++k)
                store_pair(y, row * WIDTH, s, k, by_v * v_s[k] + by_o * o_s[k]);
        }
    }
}
