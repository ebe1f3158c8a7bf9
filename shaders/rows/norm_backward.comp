// d_x = rstd · (g − mean(g) − n · mean(g·n)) + addend per row, with g = d_y · weight and n = (x − mean) · rstd; without
// CENTER the means of x and of g are 0. Also, per workgroup, the partial sums Σ d_y·n of d_weight and Σ d_y of d_bias
// over its rows.
//
// Shapes: x [rows, WIDTH] with its pitch, d_y, addend and d_x [rows, WIDTH], mean and rstd [rows], partial [groups,
// WIDTH or 2·WIDTH], weights before biases. A workgroup takes `per_group` rows one after the other, in order. d_x may
// be d_y, x or addend.
// With PREFETCH, for rows of one strip, the next row is loaded while the sums of the present row wait at a barrier.
// Numerics: fp32; n from the saved mean, so its error is 2^-24 · |mean| · rstd.
#version 460
#include "lib/args.glsl"
#include "lib/group_turns.glsl"
#include "rows/row_registers.glsl"

layout(constant_id = 5) const bool CENTER = true;
layout(constant_id = 6) const bool WEIGHT = true;
layout(constant_id = 7) const bool D_WEIGHT = true;
layout(constant_id = 8) const bool D_BIAS = true;  // only with D_WEIGHT
layout(constant_id = 9) const uint LAYOUT_DY = SCALAR;
layout(constant_id = 11) const bool ADDEND = false;
layout(constant_id = 12) const uint LAYOUT_X = SCALAR;
layout(constant_id = 13) const bool PREFETCH = false;

layout(push_constant) uniform Args {
    In x;
    In weight;
    In d_y;
    In mean;
    In rstd;
    In addend;
    Out d_x;
    InOut partial;
    uint rows;
    uint x_pitch;
    uint per_group;
};

// Adds to sums in memory, for rows that do not fit the registers. Only one lane accesses each sum.
void grow(uint at, uint column, bool fresh, vec2 value) {
    if (column < WIDTH) partial.at[at + column] = fresh ? value.x : partial.at[at + column] + value.x;
    if (column + 1 < WIDTH) partial.at[at + column + 1] = fresh ? value.y : partial.at[at + column + 1] + value.y;
}

void main() {
    const uint first = group_index() * per_group;
    const uint last = min(first + per_group, rows);
    if (first >= rows) return;
    const uint sums = group_index() * (D_BIAS ? 2 * WIDTH : WIDTH);
    vec2 v[STRIP], d[STRIP], w[STRIP], more[STRIP], d_weight[STRIP], d_bias[STRIP];
    [[unroll]] for (uint k = 0; k < STRIP; ++k) {
        d_weight[k] = vec2(0.0);
        d_bias[k] = vec2(0.0);
        w[k] = vec2(1.0);
        more[k] = vec2(0.0);
    }
    if (WEIGHT && STRIPS == 1) load_strip(weight, 0, 0, w);
    uvec2 next_x[STRIP], next_d[STRIP], next_more[STRIP];
    float next_center = 0.0, next_scale = 0.0;
    if (PREFETCH) {
        fetch_strip(x, first * x_pitch, LAYOUT_X, next_x);
        fetch_strip(d_y, first * WIDTH, LAYOUT_DY, next_d);
        if (CENTER) next_center = mean.at[first];
        next_scale = rstd.at[first];
        if (ADDEND) fetch_strip(addend, first * WIDTH, LAYOUT, next_more);
    }

    for (uint row = first; row < last; ++row) {
        const float center = PREFETCH ? next_center : CENTER ? mean.at[row] : 0.0;
        const float scale = PREFETCH ? next_scale : rstd.at[row];
        // The last iteration loads the last row again, because compilers wait for loads at branches.
        const uint after = min(row + 1, last - 1);
        if (PREFETCH) {
            take_strip(next_x, LAYOUT_X, v);
            take_strip(next_d, LAYOUT_DY, d);
            fetch_strip(x, after * x_pitch, LAYOUT_X, next_x);
            fetch_strip(d_y, after * WIDTH, LAYOUT_DY, next_d);
            if (CENTER) next_center = mean.at[after];
            next_scale = rstd.at[after];
        }
        float g_sum = 0.0, gn_sum = 0.0;
        for (uint s = 0; s < STRIPS; ++s) {
            if (!PREFETCH) load_strip(x, row * x_pitch, s, LAYOUT_X, v);
            if (!PREFETCH) load_strip(d_y, row * WIDTH, s, LAYOUT_DY, d);
            if (WEIGHT && STRIPS > 1) load_strip(weight, 0, s, w);
            [[unroll]] for (uint k = 0; k < STRIP; ++k) {
                v[k] = (v[k] - center) * scale;
                const vec2 g = d[k] * w[k];  // 0 past the end, because d is
                g_sum += sum_of(g);
                gn_sum += dot(g, v[k]);
            }
        }
        const vec2 row_sums = group_sums(row & 1, vec2(gn_sum, g_sum), CENTER);
        const float g_mean = CENTER ? row_sums.y / float(WIDTH) : 0.0;
        const float gn_mean = row_sums.x / float(WIDTH);

        for (uint s = 0; s < STRIPS; ++s) {
            if (STRIPS > 1) {
                load_strip(x, row * x_pitch, s, LAYOUT_X, v);
                load_strip(d_y, row * WIDTH, s, LAYOUT_DY, d);
                if (WEIGHT) load_strip(weight, 0, s, w);
                [[unroll]] for (uint k = 0; k < STRIP; ++k) v[k] = (v[k] - center) * scale;
            }
            if (ADDEND && PREFETCH) {  // loaded so late that its registers are free before the row is stored
                take_strip(next_more, LAYOUT, more);
                fetch_strip(addend, after * WIDTH, LAYOUT, next_more);
            } else if (ADDEND) {
                load_strip(addend, row * WIDTH, s, more);
            }
            [[unroll]] for (uint k = 0; k < STRIP; ++k) {
                const vec2 d_row = scale * (d[k] * w[k] - g_mean - v[k] * gn_mean);
                store_pair(d_x, row * WIDTH, s, k, ADDEND ? d_row + more[k] : d_row);
                if (STRIPS == 1) {
                    d_weight[k] += d[k] * v[k];
                    d_bias[k] += d[k];
                } else {
                    if (D_WEIGHT) grow(sums, column(s, k), row == first, d[k] * v[k]);
                    if (D_BIAS) grow(sums + WIDTH, column(s, k), row == first, d[k]);
                }
            }
        }
    }
    if (STRIPS == 1 && D_WEIGHT) {
        [[unroll]] for (uint k = 0; k < STRIP; ++k) {
            store_pair(Out(partial), sums, 0, k, d_weight[k]);
            if (D_BIAS) store_pair(Out(partial), sums + WIDTH, 0, k, d_bias[k]);
        }
    }
}
