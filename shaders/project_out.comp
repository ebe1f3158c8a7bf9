#version 460
// δ = o − a·v with a = <o,v>/<v,v>: of whole rows (BeliefFormer eq 10-14), of each head by itself (eq 15), or both, for
// which o and v are read once.
//
// Shapes: o, v and results [rows, HEADS·WIDTH], results dense; a of each row [rows], of each head [rows, HEADS], both
//   only where they are kept.
// Owner: a workgroup takes `per_group` consecutive rows, with lanes as in lib/head_rows.glsl. A result may be o or v
//   unless there are two.
// Numerics: sums in fp32; a = 0 where <v,v> is 0 or subnormal, no eps elsewhere. Where o = v the remainder is a few
//   2^-24·|v|; a group of width 1 leaves nothing.
#include "lib/args.glsl"
#include "lib/head_rows.glsl"
#include "lib/projection.glsl"

layout(constant_id = 7) const bool OF_HEADS = true;
layout(constant_id = 8) const uint LAYOUT_O = SCALAR;
layout(constant_id = 11) const bool KEEP_A_ROWS = true;  // for the gradient
layout(constant_id = 12) const bool KEEP_A_HEADS = true;

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

vec2 o_s[STRIP];
vec2 v_s[STRIP];

void load(uint row, uint head, uint strip) {
    load_strip(o, row * o_pitch + head * WIDTH, strip, LAYOUT_O, o_s);
    load_strip(v, row * v_pitch + head * WIDTH, strip, v_s);
}

// This lane's share of <o,v> and <v,v>.
vec2 products(uint row, uint head) {
    vec2 sums = vec2(0.0);
    for (uint s = 0; s < STRIPS; ++s) {
        load(row, head, s);
        [[unroll]] for (uint k = 0; k < STRIP; ++k) sums += vec2(dot(o_s[k], v_s[k]), dot(v_s[k], v_s[k]));
    }
    return sums;
}

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, rows);
    const uint steps = first < end ? steps_through(end - first) : 0;
    for (uint step = 0; step < steps; ++step) {
        const uint row = min(first + row_of(step), rows - 1);
        const bool inside = in_rows(step, end - first);
        vec2 of_head = vec2(0.0), of_row = vec2(0.0);
        for (uint turn = 0; turn < TURNS; ++turn) {
            if (TURNS == 1 || OF_ROWS) of_head = products(row, head_of(step, turn));
            if (OF_ROWS && has_head(step, turn)) of_row += of_head;
        }
        if (OF_ROWS) of_row = vec2(sum_over_row(of_row.x), sum_over_row(of_row.y));
        const float row_a = OF_ROWS ? along(of_row.x, of_row.y) : 0.0;
        const bool row_gone = OF_ROWS && gone(of_row.y, HEADS * WIDTH);
        for (uint turn = 0; turn < TURNS; ++turn) {
            const uint head = head_of(step, turn);
            const bool mine = inside && has_head(step, turn);
            if (OF_HEADS && TURNS > 1) of_head = products(row, head);
            const vec2 sums = OF_HEADS ? vec2(sum_over_head(of_head.x), sum_over_head(of_head.y)) : vec2(0.0);
            const float head_a = OF_HEADS ? along(sums.x, sums.y) : 0.0;
            const bool head_gone = OF_HEADS && gone(sums.y, WIDTH);
            if (OF_ROWS && KEEP_A_ROWS && mine && leads_row(head)) a_rows.at[row] = row_a;
            if (OF_HEADS && KEEP_A_HEADS && mine && leads_head()) a_heads.at[row * HEADS + head] = head_a;
            const uint at = (row * HEADS + head) * WIDTH;
            for (uint s = 0; s < STRIPS; ++s) {
                if (!ONCE) load(row, head, s);
                if (mine) {
                    [[unroll]] for (uint k = 0; k < STRIP; ++k) {
                        const vec2 of_rows = row_gone ? vec2(0.0) : o_s[k] - row_a * v_s[k];
                        const vec2 of_heads = head_gone ? vec2(0.0) : o_s[k] - head_a * v_s[k];
                        if (OF_ROWS) store_pair(y_rows, at, s, k, of_rows);
                        if (OF_HEADS) store_pair(y_heads, at, s, k, of_heads);
                    }
                }
            }
        }
    }
}
