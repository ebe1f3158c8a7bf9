#version 460
// Derivative of one step of a recurrent cell (recurrent/recurrent_cell.glsl). The gates are computed again from a and
// u. With d_h the gradient of h' and d_c that of c', from all that is after the step:
//
//   RNN   d_p = d_h (1 − h'²)
//   LSTM  d_c' = d_c + d_h o (1 − tanh² c'),  d_o = d_h tanh(c') o (1 − o),
//         d_i = d_c' g i (1 − i),  d_f = d_c' c f (1 − f),  d_g = d_c' i (1 − g²),  d_c_before = d_c' f
//   GRU   d_n = d_h (1 − z)(1 − n²),  d_z = d_h (h − n) z (1 − z),  d_r = d_n u_n r (1 − r);
//         d_u has r d_n in place of d_n;  d_h_before = d_h z
//
// d_h_before leaves out what flows through u. Rows that have ended pass d_h and d_c on, and d_a and d_u are 0.
//
// Shapes: a, u, d_a, d_u [rows, GATES·WIDTH], all others [rows, WIDTH]; u and d_u have one pitch, h and c another;
// d_h, d_c, d_h_before and d_c_before are dense. d_y is a second gradient of h', which rows that have ended do not
// have. d_y, d_h and d_c are optional, and so are the results. d_h_before may be d_h, and d_c_before may be d_c.
#include "recurrent/recurrent_cell.glsl"

layout(constant_id = 7) const bool WITH_D_Y = false;
layout(constant_id = 8) const bool WITH_D_H = false;
layout(constant_id = 9) const bool WITH_D_C = false;
layout(constant_id = 10) const bool MAKES_D_A = false;
layout(constant_id = 11) const bool MAKES_D_U = false;
layout(constant_id = 12) const bool MAKES_D_H = false;
layout(constant_id = 13) const bool MAKES_D_C = false;

layout(push_constant) uniform Args {
    In a;
    In u;
    In h;
    In c;
    InInt lengths;
    In d_y;
    In d_h;
    In d_c;
    Out d_a;
    Out d_u;
    Out d_h_before;
    Out d_c_before;
    uint rows;
    uint per_group;
    int step;
    uint a_pitch;
    uint u_pitch;
    uint state_pitch;
    uint d_y_pitch;
    uint d_a_pitch;
};

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, rows);
    for (uint row = first; row < end; ++row) {
        const bool ended = LENGTHS && step >= lengths.at[row];
        for (uint i = 2 * gl_LocalInvocationID.x; i < WIDTH; i += 2 * GROUP) {
            const bool two = i + 1 < WIDTH;
            const uint state = row * state_pitch + i, dense = row * WIDTH + i;
            vec2 d = WITH_D_H ? load_some(d_h, dense, two, LAYOUT) : vec2(0.0);
            vec2 d_cell = WITH_D_C ? load_some(d_c, dense, two, LAYOUT) : vec2(0.0);
            vec2 d_before = d;
            Gates by_a, by_u;
            [[unroll]] for (uint g = 0; g < 4; ++g) by_a.at[g] = by_u.at[g] = vec2(0.0);
            if (!ended) {
                Gates recurrent;
                const Gates gates_a = load_gates(a, row * a_pitch, i, two);
                if (!SUMMED) recurrent = load_gates(u, row * u_pitch, i, two);
                const Gates gates = activated(gates_a, recurrent);
                if (WITH_D_Y) d += load_some(d_y, row * d_y_pitch + i, two, LAYOUT);
                d_before = vec2(0.0);
                if (CELL == RNN) by_a.at[0] = d * (1.0 - gates.at[0] * gates.at[0]);
                if (CELL == LSTM) {
                    const vec2 i_gate = gates.at[0], f_gate = gates.at[1], g = gates.at[2], o_gate = gates.at[3];
                    const vec2 c_before = load_some(c, state, two, LAYOUT);
                    const vec2 t = hyperbolic_tangent(f_gate * c_before + i_gate * g);
                    d_cell += d * o_gate * (1.0 - t * t);
                    by_a.at[0] = d_cell * g * i_gate * (1.0 - i_gate);
                    by_a.at[1] = d_cell * c_before * f_gate * (1.0 - f_gate);
                    by_a.at[2] = d_cell * i_gate * (1.0 - g * g);
                    by_a.at[3] = d * t * o_gate * (1.0 - o_gate);
                    d_cell *= f_gate;
                }
                by_u = by_a;
                if (CELL == GRU) {
                    const vec2 r = gates.at[0], z = gates.at[1], n = gates.at[2];
                    const vec2 h_before = load_some(h, state, two, LAYOUT);
                    by_a.at[2] = d * (1.0 - z) * (1.0 - n * n);
                    by_a.at[1] = d * (h_before - n) * z * (1.0 - z);
                    by_a.at[0] = by_a.at[2] * recurrent.at[2] * r * (1.0 - r);
                    by_u = by_a;
                    by_u.at[2] *= r;
                    d_before = d * z;
                }
            }
            if (MAKES_D_A) store_gates(d_a, row * d_a_pitch, i, two, by_a);
            if (MAKES_D_U) store_gates(d_u, row * u_pitch, i, two, by_u);
            if (MAKES_D_H) store_some(d_h_before, dense, d_before, two, LAYOUT);
            if (MAKES_D_C) store_some(d_c_before, dense, d_cell, two, LAYOUT);
        }
    }
}
