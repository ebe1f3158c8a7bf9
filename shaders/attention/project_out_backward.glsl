// Gradients of projections of rows, for project_out_backward.comp, which has the equations, and for the backward pass
// of attention, which computes them for its own rows (attention_project_out_backward_q.comp).
#include "attention/head_rows.glsl"
#include "attention/projection.glsl"

layout(constant_id = 29) const bool OF_HEADS = true;
layout(constant_id = 30) const bool DELTA = false;

// Inputs and outputs; absent if there is no gradient for rows, for heads, or no delta.
struct Gradient {
    In y;  // δ
    In v;
    In a_rows;
    In a_heads;
    In g_rows;
    In g_heads;
    Out d_o;
    Out d_v;
    Out delta;
    uint queries;
    uint v_pitch;
    uint g_rows_pitch;
    uint g_heads_pitch;
};

vec2 v_s[STRIP];
vec2 r_s[STRIP];  // g for rows
vec2 h_s[STRIP];  // g for heads

void load(Gradient p, uint row, uint head, uint strip) {
    load_row(p.v, row * p.v_pitch + head * WIDTH, strip, v_s);
    if (OF_ROWS) load_row(p.g_rows, row * p.g_rows_pitch + head * WIDTH, strip, r_s);
    if (OF_HEADS) load_row(p.g_heads, row * p.g_heads_pitch + head * WIDTH, strip, h_s);
}

// This lane's share of <g,v> for rows, of <g,v> for heads, and of <v,v>.
vec3 products(Gradient p, uint row, uint head) {
    vec3 sums = vec3(0.0);
    for (uint s = 0; s < STRIPS; ++s) {
        load(p, row, head, s);
        [[unroll]] for (uint k = 0; k < STRIP; ++k) {
            if (OF_ROWS) sums.x += dot(r_s[k], v_s[k]);
            if (OF_HEADS) sums.y += dot(h_s[k], v_s[k]);
            sums.z += dot(v_s[k], v_s[k]);
        }
    }
    return sums;
}

// Computes the gradients of rows [first, end).
void project_out_backward(Gradient p, uint first, uint end) {
    const uint steps = first < end ? steps_through(end - first) : 0;
    for (uint step = 0; step < steps; ++step) {
        const uint row = min(first + row_of(step), end - 1);
        const bool inside = in_rows(step, end - first);
        vec3 of_head = vec3(0.0), of_row = vec3(0.0);
        for (uint pass = 0; pass < PASSES; ++pass) {
            if (PASSES == 1 || OF_ROWS) of_head = products(p, row, head_of(step, pass));
            if (OF_ROWS && has_head(step, pass)) of_row += of_head;
        }
        float row_a = 0.0, row_c = 0.0;
        bool row_is_zero = false;
        if (OF_ROWS) {
            const float v_v = sum_over_row(of_row.z);
            row_a = p.a_rows.at[row];
            row_c = -projection_coefficient(sum_over_row(of_row.x), v_v);
            row_is_zero = residual_is_zero(v_v, HEADS * WIDTH);
        }
        for (uint pass = 0; pass < PASSES; ++pass) {
            const uint head = head_of(step, pass);
            const bool mine = inside && has_head(step, pass);
            float head_a = 0.0, head_c = 0.0;
            bool head_is_zero = false;
            if (OF_HEADS) {
                if (PASSES > 1) of_head = products(p, row, head);
                const float v_v = sum_over_head(of_head.z);
                head_a = p.a_heads.at[row * HEADS + head];
                head_c = -projection_coefficient(sum_over_head(of_head.y), v_v);
                head_is_zero = residual_is_zero(v_v, WIDTH);
            }
            const uint at = (row * HEADS + head) * WIDTH;
            vec2 y_s[STRIP];
            Out to_o = row_out(p.d_o, at), to_v = row_out(p.d_v, at);
            float d_o_y = 0.0, d_o_v = 0.0;
            for (uint s = 0; s < STRIPS; ++s) {
                if (!FITS_REGISTERS) load(p, row, head, s);
                load_row(p.y, at, s, y_s);
                [[unroll]] for (uint k = 0; k < STRIP; ++k) {
                    vec2 d = vec2(0.0), d_values = vec2(0.0);
                    if (OF_ROWS && !row_is_zero) {
                        d = r_s[k] + row_c * v_s[k];
                        const vec2 left = OF_HEADS ? y_s[k] + (head_a - row_a) * v_s[k] : y_s[k];
                        d_values = row_c * left - row_a * d;
                    }
                    if (OF_HEADS && !head_is_zero) {
                        const vec2 d_head = h_s[k] + head_c * v_s[k];
                        d += d_head;
                        d_values += head_c * y_s[k] - head_a * d_head;
                    }
                    if (mine) store_pair(to_o, row_at(at), s, k, d);
                    if (mine) store_pair(to_v, row_at(at), s, k, d_values);
                    const vec2 stored = as_stored(d, LAYOUT);
                    d_o_y += dot(stored, y_s[k]);
                    d_o_v += dot(stored, v_s[k]);
                }
            }
            if (DELTA) {
                const float sum = sum_over_head(d_o_y + (OF_HEADS ? head_a : row_a) * d_o_v);
                const uint to = (row / p.queries * HEADS + head) * p.queries + row % p.queries;
                if (mine && leads_head()) p.delta.at[to] = sum;
            }
        }
    }
}
