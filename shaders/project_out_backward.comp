#version 460
// d_o = g + c·v and d_v = c·(o − a·v) − a·d_o, g the gradient of δ = o − a·v, a = <o,v>/<v,v>, c = −<g,v>/<v,v>.
//
// (From d<o,v> = dα/<v,v> and d<v,v> = −a·dα/<v,v> with dα = −<g,v>. Like <δ,v>, <d_o,v> = 0.)
// Shapes: o, v, g, d_o, d_v [rows, GROUPS·WIDTH], d_o and d_v contiguous; either may be one of the others, or with ADD
// what it is added to. Work is shared out as in project_out.
// Numerics: sums in fp32; where <v,v> is 0 or subnormal a = c = 0, so that d_o = g and d_v = 0. A
// group of width 1 has nothing perpendicular to v: its gradients are 0, not the noise of cancellation.
#include "lib/args.glsl"
#include "lib/projection.glsl"

layout(constant_id = 6) const uint LAYOUT_D = SCALAR;      // of d_o and d_v
layout(constant_id = 7) const bool ADD = false;            // more_o to d_o and more_v to d_v, which lie as these do …
layout(constant_id = 8) const uint LAYOUT_MORE = SCALAR;   // … but for their format

layout(push_constant, scalar) uniform Args {
    In o;
    In v;
    In g;
    In more_o;
    In more_v;
    Out d_o;
    Out d_v;
    uint rows;
    uint o_pitch;
    uint v_pitch;
    uint g_pitch;
    uint per_group;
};

void differentiate(uint o_at, uint v_at, uint g_at, uint d_at) {
    vec2 o_s[STRIP], v_s[STRIP], g_s[STRIP], add_o[STRIP], add_v[STRIP];
    float o_v = 0.0, g_v = 0.0, v_v = 0.0;
    for (uint s = 0; s < STRIPS; ++s) {
        load_strip(o, o_at, s, o_s);
        load_strip(v, v_at, s, v_s);
        load_strip(g, g_at, s, g_s);
        [[unroll]] for (uint k = 0; k < STRIP; ++k) {
            o_v += dot(o_s[k], v_s[k]);
            g_v += dot(g_s[k], v_s[k]);
            v_v += dot(v_s[k], v_s[k]);
        }
    }
    o_v = sum_over_lanes(o_v);
    g_v = sum_over_lanes(g_v);
    v_v = sum_over_lanes(v_v);
    const Along at = along(o_v, g_v, v_v, WIDTH);
    for (uint s = 0; s < STRIPS; ++s) {
        if (STRIPS > 1) load_strip(o, o_at, s, o_s);
        if (STRIPS > 1) load_strip(v, v_at, s, v_s);
        if (STRIPS > 1) load_strip(g, g_at, s, g_s);
        if (ADD) load_strip(more_o, d_at, s, LAYOUT_MORE, add_o);
        if (ADD) load_strip(more_v, d_at, s, LAYOUT_MORE, add_v);
        [[unroll]] for (uint k = 0; k < STRIP; ++k) {
            const vec2 d = gradient_of_o(at, g_s[k], v_s[k]);
            const vec2 d_values = gradient_of_v(at, o_s[k], v_s[k], d);
            store_pair(d_o, d_at, s, k, ADD ? d + add_o[k] : d, LAYOUT_D);
            store_pair(d_v, d_at, s, k, ADD ? d_values + add_v[k] : d_values, LAYOUT_D);
        }
    }
}

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, rows * GROUPS);
    for (uint i = first + own_group(); i < end; i += AT_ONCE) {
        const uint row = i / GROUPS;
        const uint at = i % GROUPS * WIDTH;
        differentiate(row * o_pitch + at, row * v_pitch + at, row * g_pitch + at, i * WIDTH);
    }
}
