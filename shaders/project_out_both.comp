#version 460
// Both projections of belief-star: of a whole row, δ = o − a·v with a = <o,v>/<v,v> over its GROUPS heads together
// (BeliefFormer eq 10-14), and of each head by itself (eq 15). o and v are read once.
//
// Shapes: o, v and both results [rows, GROUPS·WIDTH], results contiguous.
// Owner: a workgroup is one subgroup and takes `per_group` consecutive rows, a head to a lane, the heads of a row side
//   by side. Made for CPU devices.
// Numerics: as project_out; a row's sums are those of its heads, in order.
#include "lib/args.glsl"
#include "lib/projection_both.glsl"

layout(push_constant, scalar) uniform Args {
    In o;
    In v;
    Out y_rows;
    Out y_heads;
    uint rows;
    uint o_pitch;
    uint v_pitch;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, rows);
    for (uint start = first; start < end; start += ROWS_AT_ONCE) {
        const uint row = min(start + own_row(), rows - 1), head = own_head() * WIDTH;
        vec2 o_s[STRIP], v_s[STRIP];
        load_strip(o, row * o_pitch + head, 0, o_s);
        load_strip(v, row * v_pitch + head, 0, v_s);
        float o_v = 0.0, v_v = 0.0;
        [[unroll]] for (uint k = 0; k < STRIP; ++k) {
            o_v += dot(o_s[k], v_s[k]);
            v_v += dot(v_s[k], v_s[k]);
        }
        const Along of_row = along(sum_over_row(o_v), 0.0, sum_over_row(v_v), GROUPS * WIDTH);
        const Along of_head = along(o_v, 0.0, v_v, WIDTH);
        const uint at = row * GROUPS * WIDTH + head;
        if (has_row(start, end)) {
            [[unroll]] for (uint k = 0; k < STRIP; ++k) {
                store_pair(y_rows, at, 0, k, perpendicular(of_row, o_s[k], v_s[k]));
                store_pair(y_heads, at, 0, k, perpendicular(of_head, o_s[k], v_s[k]));
            }
        }
    }
}
