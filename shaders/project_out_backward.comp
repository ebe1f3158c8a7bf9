#version 460
// d_o = g + c·v and d_v = c·δ − a·d_o, g the gradient of δ = o − a·v, a = <o,v>/<v,v>, c = −<g,v>/<v,v>: of whole rows,
// of each head by itself, or of both, whose gradients are added. And delta = <d_o,o> of each head, all that attention's
// gradients need to know of o.
//
// (From d<o,v> = dα/<v,v> and d<v,v> = −a·dα/<v,v> with dα = −<g,v>. Like <δ,v>, <d_o,v> = 0.)
// o is not read: with b = a of δ, it is δ + b·v. δ is of heads where these are asked for, else of rows.
// Shapes: δ, v, g, d_o, d_v [rows, HEADS·WIDTH], δ, d_o and d_v dense; a as project_out.comp makes them; delta
//   [rows / queries, HEADS, queries]. Work is shared out as there; d_o or d_v may be one of those read.
// Numerics: sums in fp32; where <v,v> is 0 or subnormal a = c = 0, so that d_o = g and d_v = 0. A group of width 1 has
//   nothing perpendicular to v: its gradients are 0, not the noise of cancellation. delta is of d_o as it is stored, so
//   that what rounding leaves of d_o along v cancels in attention's gradients.
#include "lib/args.glsl"
#include "lib/project_out_backward.glsl"

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
