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
#include "lib/head_rows.glsl"
#include "lib/projection.glsl"

layout(constant_id = 7) const bool OF_HEADS = true;
layout(constant_id = 9) const bool DELTA = false;

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

vec2 v_s[STRIP];
vec2 r_s[STRIP];  // g of rows
vec2 h_s[STRIP];  // and of heads

void load(uint row, uint head, uint strip) {
    load_strip(v, row * v_pitch + head * WIDTH, strip, v_s);
    if (OF_ROWS) load_strip(g_rows, row * g_rows_pitch + head * WIDTH, strip, r_s);
    if (OF_HEADS) load_strip(g_heads, row * g_heads_pitch + head * WIDTH, strip, h_s);
}

// This lane's share of <g,v> of rows, of heads, and of <v,v>.
vec3 products(uint row, uint head) {
    vec3 sums = vec3(0.0);
    for (uint s = 0; s < STRIPS; ++s) {
        load(row, head, s);
        [[unroll]] for (uint k = 0; k < STRIP; ++k) {
            if (OF_ROWS) sums.x += dot(r_s[k], v_s[k]);
            if (OF_HEADS) sums.y += dot(h_s[k], v_s[k]);
            sums.z += dot(v_s[k], v_s[k]);
        }
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
        vec3 of_head = vec3(0.0), of_row = vec3(0.0);
        for (uint turn = 0; turn < TURNS; ++turn) {
            if (TURNS == 1 || OF_ROWS) of_head = products(row, head_of(step, turn));
            if (OF_ROWS && has_head(step, turn)) of_row += of_head;
        }
        float row_a = 0.0, row_c = 0.0;
        bool row_gone = false;
        if (OF_ROWS) {
            const float v_v = sum_over_row(of_row.z);
            row_a = a_rows.at[row];
            row_c = -along(sum_over_row(of_row.x), v_v);
            row_gone = gone(v_v, HEADS * WIDTH);
        }
        for (uint turn = 0; turn < TURNS; ++turn) {
            const uint head = head_of(step, turn);
            const bool mine = inside && has_head(step, turn);
            float head_a = 0.0, head_c = 0.0;
            bool head_gone = false;
            if (OF_HEADS) {
                if (TURNS > 1) of_head = products(row, head);
                const float v_v = sum_over_head(of_head.z);
                head_a = a_heads.at[row * HEADS + head];
                head_c = -along(sum_over_head(of_head.y), v_v);
                head_gone = gone(v_v, WIDTH);
            }
            const uint at = (row * HEADS + head) * WIDTH;
            vec2 y_s[STRIP];
            float d_o_y = 0.0, d_o_v = 0.0;
            for (uint s = 0; s < STRIPS; ++s) {
                if (!ONCE) load(row, head, s);
                load_strip(y, at, s, y_s);
                [[unroll]] for (uint k = 0; k < STRIP; ++k) {
                    vec2 d = vec2(0.0), d_values = vec2(0.0);
                    if (OF_ROWS && !row_gone) {
                        d = r_s[k] + row_c * v_s[k];
                        const vec2 left = OF_HEADS ? y_s[k] + (head_a - row_a) * v_s[k] : y_s[k];
                        d_values = row_c * left - row_a * d;
                    }
                    if (OF_HEADS && !head_gone) {
                        const vec2 d_head = h_s[k] + head_c * v_s[k];
                        d += d_head;
                        d_values += head_c * y_s[k] - head_a * d_head;
                    }
                    if (mine) store_pair(d_o, at, s, k, d);
                    if (mine) store_pair(d_v, at, s, k, d_values);
                    const vec2 stored = as_stored(d, LAYOUT);
                    d_o_y += dot(stored, y_s[k]);
                    d_o_v += dot(stored, v_s[k]);
                }
            }
            if (DELTA) {
                const float sum = sum_over_head(d_o_y + (OF_HEADS ? head_a : row_a) * d_o_v);
                if (mine && leads_head()) delta.at[(row / queries * HEADS + head) * queries + row % queries] = sum;
            }
        }
    }
}
