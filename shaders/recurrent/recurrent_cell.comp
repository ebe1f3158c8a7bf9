#version 460
// One step of a recurrent cell (recurrent/recurrent_cell.glsl): states h' and c' after it, and the output y, which is
// h', or 0 in rows that have ended.
//
// Shapes: a, u [rows, GATES·WIDTH], all others [rows, WIDTH], each with a pitch of its own. h is read by GRUs and with
// LENGTHS, c and c_next exist in LSTMs. A workgroup takes `per_group` consecutive rows, a pair of units per invocation.
// h_next may be h, and c_next may be c.
#include "recurrent/recurrent_cell.glsl"

layout(constant_id = 7) const bool OUTPUT = false;  // y is made

layout(push_constant) uniform Args {
    In a;
    In u;
    In h;
    In c;
    InInt lengths;
    Out h_next;
    Out c_next;
    Out y;
    uint rows;
    uint per_group;
    int step;
    uint a_pitch;
    uint u_pitch;
    uint h_pitch;
    uint c_pitch;
    uint h_next_pitch;
    uint c_next_pitch;
    uint y_pitch;
};

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, rows);
    for (uint row = first; row < end; ++row) {
        const bool ended = LENGTHS && step >= lengths.at[row];
        for (uint i = 2 * gl_LocalInvocationID.x; i < WIDTH; i += 2 * GROUP) {
            const bool two = i + 1 < WIDTH;
            const vec2 h_before = CELL == GRU || LENGTHS ? load_some(h, row * h_pitch + i, two, LAYOUT) : vec2(0.0);
            const vec2 c_before = CELL == LSTM ? load_some(c, row * c_pitch + i, two, LAYOUT) : vec2(0.0);
            vec2 h_new = h_before, c_new = c_before;
            if (!ended) {
                Gates recurrent;
                const Gates gates_a = load_gates(a, row * a_pitch, i, two);
                if (!SUMMED) recurrent = load_gates(u, row * u_pitch, i, two);
                const Gates gates = activated(gates_a, recurrent);
                if (CELL == RNN) h_new = gates.at[0];
                if (CELL == LSTM) {
                    const vec2 i_gate = gates.at[0], f_gate = gates.at[1], g = gates.at[2], o_gate = gates.at[3];
                    c_new = f_gate * c_before + i_gate * g;
                    h_new = o_gate * hyperbolic_tangent(c_new);
                }
                if (CELL == GRU) {
                    const vec2 z = gates.at[1], n = gates.at[2];
                    h_new = n + z * (h_before - n);
                }
            }
            store_some(h_next, row * h_next_pitch + i, h_new, two, LAYOUT);
            if (CELL == LSTM) store_some(c_next, row * c_next_pitch + i, c_new, two, LAYOUT);
            if (OUTPUT) store_some(y, row * y_pitch + i, ended ? vec2(0.0) : h_new, two, LAYOUT);
        }
    }
}
