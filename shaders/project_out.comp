#version 460
// δ = o − a·v with a = <o,v>/<v,v>, per group of a row: BeliefFormer eq 10-14 (a row is one group), eq 15 (heads).
//
// Shapes: o, v, δ [rows, GROUPS·WIDTH], δ contiguous. A workgroup takes `per_group` consecutive groups: one after the
// other, its invocations along them, or with ROW_PER_LANE a group to each. δ may be o or v.
// Numerics: sums in fp32; a = 0 where <v,v> is 0 or subnormal, no eps elsewhere. Where o = v the remainder is a few
// 2^-24·|v|.
#include "lib/args.glsl"
#include "lib/projection.glsl"

layout(push_constant, scalar) uniform Args {
    In o;
    In v;
    Out y;
    uint rows;
    uint o_pitch;
    uint v_pitch;
    uint per_group;
};

void project(uint o_at, uint v_at, uint y_at) {
    vec2 o_s[STRIP], v_s[STRIP];
    float o_v = 0.0, v_v = 0.0;
    for (uint s = 0; s < STRIPS; ++s) {
        load_strip(o, o_at, s, o_s);
        load_strip(v, v_at, s, v_s);
        [[unroll]] for (uint k = 0; k < STRIP; ++k) {
            o_v += dot(o_s[k], v_s[k]);
            v_v += dot(v_s[k], v_s[k]);
        }
    }
    o_v = sum_over_lanes(o_v);
    v_v = sum_over_lanes(v_v);
    const Along at = along(o_v, 0.0, v_v, WIDTH);
    for (uint s = 0; s < STRIPS; ++s) {
        if (STRIPS > 1) load_strip(o, o_at, s, o_s);
        if (STRIPS > 1) load_strip(v, v_at, s, v_s);
        [[unroll]] for (uint k = 0; k < STRIP; ++k)
            store_pair(y, y_at, s, k, perpendicular(at, o_s[k], v_s[k]));
    }
}

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, rows * GROUPS);
    for (uint i = first + own_group(); i < end; i += AT_ONCE) {
        const uint row = i / GROUPS;
        const uint at = i % GROUPS * WIDTH;
        project(row * o_pitch + at, row * v_pitch + at, i * WIDTH);
    }
}
