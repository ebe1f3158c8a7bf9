#version 460
// d_o = by_o·g and d_v = by_v·g, where g is the gradient of y = by_v·v + by_o·o (discrepancy.comp), and delta = <d_o,o>
// of each head, the only function of o that attention's gradients need. o = (y − by_v·v)/by_o is recomputed, not read.
//
// Shapes: all [rows, HEADS·WIDTH], y, d_o and d_v dense; delta [rows / queries, HEADS, queries].
// Owner: a workgroup takes `per_group` consecutive rows, with lanes as in attention/head_rows.glsl.
// Numerics: delta in fp32, from d_o as stored. With by_o = 0 nothing depends on o: d_o = 0 and delta = 0.
#include "lib/args.glsl"
#include "attention/head_rows.glsl"

layout(constant_id = 7) const bool OF_VALUES = false;  // d_v is an output

layout(push_constant) uniform Args {
    In y;
    In v;
    In g;
    Out d_o;
    Out d_v;
    Out delta;
    uint rows;
    uint queries;
    uint v_pitch;
    uint g_pitch;
    uint per_group;
    float by_o;
    float by_v;
};

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, rows);
    const float inverse = by_o != 0.0 ? 1.0 / by_o : 0.0;
    const uint steps = first < end ? steps_through(end - first) : 0;
    for (uint step = 0; step < steps; ++step) {
        const uint row = min(first + row_of(step), rows - 1), head = head_of(step, 0);
        const uint at = (row * HEADS + head) * WIDTH;
        const bool mine = in_rows(step, end - first);
        float sum = 0.0;
        for (uint s = 0; s < STRIPS; ++s) {
            vec2 y_s[STRIP], v_s[STRIP], g_s[STRIP];
            load_strip(y, at, s, y_s);
            load_strip(v, row * v_pitch + head * WIDTH, s, v_s);
            load_strip(g, row * g_pitch + head * WIDTH, s, g_s);
            [[unroll]] for (uint k = 0; k < STRIP; ++k) {
                const vec2 d = by_o * g_s[k];
                if (mine) store_pair(d_o, at, s, k, d);
                if (mine && OF_VALUES) store_pair(d_v, at, s, k, by_v * g_s[k]);
                sum += dot(as_stored(d, LAYOUT), (y_s[k] - by_v * v_s[k]) * inverse);
            }
        }
        sum = sum_over_head(sum);
        if (mine && leads_head()) delta.at[(row / queries * HEADS + head) * queries + row % queries] = sum;
    }
}
