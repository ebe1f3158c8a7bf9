#version 460
// d_o = g + c·v and d_v = c·δ − a·d_o, where g is the gradient of δ = o − a·v, a = <o,v>/<v,v>, c = −<g,v>/<v,v>: for
// whole rows, for each head, or for both, whose gradients are added. Also delta = <d_o,o> of each head, the only
// function of o that attention's gradients need.
//
// (From d<o,v> = dα/<v,v> and d<v,v> = −a·dα/<v,v> with dα = −<g,v>. Like <δ,v>, <d_o,v> = 0.)
// o is not read but recomputed as δ + b·v, where b is the coefficient a of δ. δ is the result for heads if there is
// one, else for rows.
// Shapes: δ, v, g, d_o, d_v [rows, HEADS·WIDTH], δ, d_o and d_v dense; a as stored by project_out.comp; delta [rows /
//   queries, HEADS, queries]. Owner: as project_out.comp; d_o or d_v may overwrite an input.
// Numerics: sums in fp32; where <v,v> is 0 or subnormal a = c = 0, so that d_o = g and d_v = 0. A group of width 1 has
//   no component perpendicular to v: its gradients are 0, without noise of cancellation. delta is computed from d_o as
//   stored, so that the component of d_o along v that rounding leaves cancels in attention's gradients.
#include "lib/args.glsl"
#include "attention/project_out_backward.glsl"

layout(push_constant) uniform Args {
    In y;  // δ
    In v;
    In a_rows;
    In a_heads;
    In g_rows;
    In g_heads;
    Out d_o;
    Out d_v;
    Out delta;
    uint rows;
    uint queries;
    uint v_pitch;
    uint g_rows_pitch;
    uint g_heads_pitch;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group;
    project_out_backward(Gradient(y, v, a_rows, a_heads, g_rows, g_heads, d_o, d_v, delta, queries, v_pitch,
                                  g_rows_pitch, g_heads_pitch),
                         first, min(first + per_group, rows));
}
