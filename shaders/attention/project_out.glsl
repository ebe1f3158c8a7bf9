// Components of rows of o perpendicular to v, for project_out.comp and for attention that projects the rows it has
// computed (attention_project_out.comp).
//
// The kernel defines load_o().
#include "attention/head_rows.glsl"
#include "attention/projection.glsl"

layout(constant_id = 29) const bool OF_HEADS = true;
layout(constant_id = 11) const bool KEEP_A_ROWS = true;  // for the gradient
layout(constant_id = 12) const bool KEEP_A_HEADS = true;

// Values on which o is projected, and the results; results that are not wanted are absent.
struct Projection {
    In v;
    Out y_rows;
    Out y_heads;
    Out a_rows;
    Out a_heads;
    uint v_pitch;
};

vec2 o_s[STRIP];
vec2 v_s[STRIP];

// Loads this lane's strip of a head of o to o_s.
void load_o(uint row, uint head, uint strip);

void load(Projection p, uint row, uint head, uint strip) {
    load_o(row, head, strip);
    load_row(p.v, row * p.v_pitch + head * WIDTH, strip, v_s);
}

// This lane's share of <o,v> and <v,v>.
vec2 products(Projection p, uint row, uint head) {
    vec2 sums = vec2(0.0);
    for (uint s = 0; s < STRIPS; ++s) {
        load(p, row, head, s);
        [[unroll]] for (uint k = 0; k < STRIP; ++k) sums += vec2(dot(o_s[k], v_s[k]), dot(v_s[k], v_s[k]));
    }
    return sums;
}

// Projects rows [first, end).
void project_out(Projection p, uint first, uint end) {
    const uint steps = first < end ? steps_through(end - first) : 0;
    for (uint step = 0; step < steps; ++step) {
        const uint row = min(first + row_of(step), end - 1);
        const bool inside = in_rows(step, end - first);
        vec2 of_head = vec2(0.0), of_row = vec2(0.0);
        for (uint pass = 0; pass < PASSES; ++pass) {
            if (PASSES == 1 || OF_ROWS) of_head = products(p, row, head_of(step, pass));
            if (OF_ROWS && has_head(step, pass)) of_row += of_head;
        }
        if (OF_ROWS) of_row = vec2(sum_over_row(of_row.x), sum_over_row(of_row.y));
        const float row_a = OF_ROWS ? projection_coefficient(of_row.x, of_row.y) : 0.0;
        const bool row_is_zero = OF_ROWS && residual_is_zero(of_row.y, HEADS * WIDTH);
        for (uint pass = 0; pass < PASSES; ++pass) {
            const uint head = head_of(step, pass);
            const bool mine = inside && has_head(step, pass);
            if (OF_HEADS && PASSES > 1) of_head = products(p, row, head);
            const vec2 sums = OF_HEADS ? vec2(sum_over_head(of_head.x), sum_over_head(of_head.y)) : vec2(0.0);
            const float head_a = OF_HEADS ? projection_coefficient(sums.x, sums.y) : 0.0;
            const bool head_is_zero = OF_HEADS && residual_is_zero(sums.y, WIDTH);
            if (OF_ROWS && KEEP_A_ROWS && mine && leads_row(head)) p.a_rows.at[row] = row_a;
            if (OF_HEADS && KEEP_A_HEADS && mine && leads_head()) p.a_heads.at[row * HEADS + head] = head_a;
            const uint at = (row * HEADS + head) * WIDTH;
            Out to_rows = row_out(p.y_rows, at), to_heads = row_out(p.y_heads, at);
            for (uint s = 0; s < STRIPS; ++s) {
                if (!FITS_REGISTERS) load(p, row, head, s);
                if (mine) {
                    [[unroll]] for (uint k = 0; k < STRIP; ++k) {
                        const vec2 of_rows = row_is_zero ? vec2(0.0) : o_s[k] - row_a * v_s[k];
                        const vec2 of_heads = head_is_zero ? vec2(0.0) : o_s[k] - head_a * v_s[k];
                        if (OF_ROWS) store_pair(to_rows, row_at(at), s, k, of_rows);
                        if (OF_HEADS) store_pair(to_heads, row_at(at), s, k, of_heads);
                    }
                }
            }
        }
    }
}
