#version 460
// The gradients of o and v through both projections of belief-star: the sums of what project_out_backward finds for
// whole rows, whose result has the gradient g_rows, and for heads, whose result has g_heads.
//
// Shapes: all tensors [rows, GROUPS·WIDTH], d_o and d_v contiguous. Work is shared out as in project_out_both.
// Numerics: as project_out_backward.
#include "lib/args.glsl"
#include "lib/projection_both.glsl"

layout(push_constant, scalar) uniform Args {
    In o;
    In v;
    In g_rows;
    In g_heads;
    Out d_o;
    Out d_v;
    uint rows;
    uint o_pitch;
    uint v_pitch;
    uint g_rows_pitch;
    uint g_heads_pitch;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, rows);
    for (uint start = first; start < end; start += ROWS_AT_ONCE) {
        const uint row = min(start + own_row(), rows - 1), head = own_head() * WIDTH;
        vec2 o_s[STRIP], v_s[STRIP], r_s[STRIP], h_s[STRIP];
        load_strip(o, row * o_pitch + head, 0, o_s);
        load_strip(v, row * v_pitch + head, 0, v_s);
        load_strip(g_rows, row * g_rows_pitch + head, 0, r_s);
        load_strip(g_heads, row * g_heads_pitch + head, 0, h_s);
        float o_v = 0.0, v_v = 0.0, r_v = 0.0, h_v = 0.0;
        [[unroll]] for (uint k = 0; k < STRIP; ++k) {
            o_v += dot(o_s[k], v_s[k]);
            v_v += dot(v_s[k], v_s[k]);
            r_v += dot(r_s[k], v_s[k]);
            h_v += dot(h_s[k], v_s[k]);
        }
        const Along of_row = along(sum_over_row(o_v), sum_over_row(r_v), sum_over_row(v_v), GROUPS * WIDTH);
        const Along of_head = along(o_v, h_v, v_v, WIDTH);
        const uint at = row * GROUPS * WIDTH + head;
        if (has_row(start, end)) {
            [[unroll]] for (uint k = 0; k < STRIP; ++k) {
                const vec2 r = gradient_of_o(of_row, r_s[k], v_s[k]);
                const vec2 h = gradient_of_o(of_head, h_s[k], v_s[k]);
                store_pair(d_o, at, 0, k, r + h);
                store_pair(d_v, at, 0, k,
                           gradient_of_v(of_row, o_s[k], v_s[k], r) + gradient_of_v(of_head, o_s[k], v_s[k], h));
            }
        }
    }
}
