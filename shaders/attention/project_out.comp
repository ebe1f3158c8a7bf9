#version 460
// δ = o − a·v with a = <o,v>/<v,v>: for whole rows (BeliefFormer eq 10-14), for each head (eq 15), or both, with o and
// v read once.
//
// Shapes: o, v and results [rows, HEADS·WIDTH], results dense; a [rows] for rows, [rows, HEADS] for heads, each only if
//   it is kept.
// Owner: a workgroup takes `per_group` consecutive rows, with lanes as in attention/head_rows.glsl. A single result may
//   overwrite o or v; two may not.
// Numerics: sums in fp32; a = 0 where <v,v> is 0 or subnormal, no eps elsewhere. Where o = v, δ is a few 2^-24·|v|; δ
//   of a group of width 1 is 0.
#include "lib/args.glsl"
#include "attention/project_out.glsl"

layout(constant_id = 8) const uint LAYOUT_O = SCALAR;

layout(push_constant) uniform Args {
    In o;
    In v;
    Out y_rows;
    Out y_heads;
    Out a_rows;
    Out a_heads;
    uint rows;
    uint o_pitch;
    uint v_pitch;
    uint per_group;
};

void load_o(uint row, uint head, uint strip) { load_strip(o, row * o_pitch + head * WIDTH, strip, LAYOUT_O, o_s); }

void main() {
    const uint first = group_index() * per_group;
    project_out(Projection(v, y_rows, y_heads, a_rows, a_heads, v_pitch), first, min(first + per_group, rows));
}
