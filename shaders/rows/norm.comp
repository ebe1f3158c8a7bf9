// y = (x − mean) · rstd · weight + bias per row, rstd = 1 / sqrt(var + eps): LayerNorm; without CENTER mean = 0:
// RMSNorm.
//
// Shapes: x [rows, WIDTH] with its pitch, y [rows, WIDTH], weight and bias [WIDTH], mean and rstd [rows]. A workgroup
// takes `per_group` rows one after the other and keeps weight and bias in registers. y may be x.
// With PREFETCH, for rows of one strip, the next row is loaded while the sums of the present row wait at barriers.
// Saves: mean (with CENTER) and rstd.
// Numerics: fp32. The mean is corrected by the mean of the differences from it, and the variance is that of these
// differences: rows far from zero have no error but the rounding of x itself.
#version 460
#include "lib/args.glsl"
#include "lib/group_turns.glsl"
#include "rows/row_registers.glsl"

layout(constant_id = 5) const bool CENTER = true;
layout(constant_id = 6) const bool WEIGHT = true;
layout(constant_id = 7) const bool BIAS = true;
layout(constant_id = 8) const uint LAYOUT_Y = SCALAR;
layout(constant_id = 9) const uint LAYOUT_X = SCALAR;
layout(constant_id = 11) const bool PREFETCH = false;

layout(push_constant) uniform Args {
    In x;
    In weight;
    In bias;
    Out y;
    Out mean;
    Out rstd;
    uint rows;
    uint x_pitch;
    uint per_group;
    float eps;
};

void main() {
    const uint first = group_index() * per_group;
    const uint last = min(first + per_group, rows);
    if (first >= rows) return;
    vec2 v[STRIP], w[STRIP], b[STRIP];
    uvec2 next[STRIP];
    if (PREFETCH) fetch_strip(x, first * x_pitch, LAYOUT_X, next);
    if (WEIGHT && STRIPS == 1) load_strip(weight, 0, 0, w);
    if (BIAS && STRIPS == 1) load_strip(bias, 0, 0, b);

    for (uint row = first; row < last; ++row) {
        const uint at = row * x_pitch;
        float high = 0.0;
        if (PREFETCH) {
            take_strip(next, LAYOUT_X, v);
            // The last iteration loads the last row again, because compilers wait for loads at branches.
            fetch_strip(x, min(row + 1, last - 1) * x_pitch, LAYOUT_X, next);
        } else if (STRIPS == 1) {
            load_strip(x, at, 0, LAYOUT_X, v);
        }
        if (CENTER) {
            for (uint s = 0; s < STRIPS; ++s) {
                if (STRIPS > 1) load_strip(x, at, s, LAYOUT_X, v);
                [[unroll]] for (uint k = 0; k < STRIP; ++k) high += sum_of(v[k]);
            }
            high = group_sums(0, vec2(high, 0.0), false).x / float(WIDTH);
        }

        float rest = 0.0, squares = 0.0;
        for (uint s = 0; s < STRIPS; ++s) {
            if (STRIPS > 1) load_strip(x, at, s, LAYOUT_X, v);
            [[unroll]] for (uint k = 0; k < STRIP; ++k) {
                const vec2 d = in_row(s, k, v[k] - high);
                rest += sum_of(d);
                squares += dot(d, d);
            }
        }
        const vec2 sums = group_sums(CENTER ? 1 : row & 1, vec2(squares, rest), CENTER);
        const float low = CENTER ? sums.y / float(WIDTH) : 0.0;
        const float variance = max(sums.x / float(WIDTH) - low * low, 0.0);
        const float scale = 1.0 / sqrt(variance + eps);

        for (uint s = 0; s < STRIPS; ++s) {
            if (STRIPS > 1) load_strip(x, at, s, LAYOUT_X, v);
            if (WEIGHT && STRIPS > 1) load_strip(weight, 0, s, w);
            if (BIAS && STRIPS > 1) load_strip(bias, 0, s, b);
            [[unroll]] for (uint k = 0; k < STRIP; ++k) {
                vec2 out_k = (v[k] - high - low) * scale;
                if (WEIGHT) out_k *= w[k];
                if (BIAS) out_k += b[k];
                store_pair(y, row * WIDTH, s, k, out_k, LAYOUT_Y);
            }
        }
        if (gl_LocalInvocationID.x == 0) {
            if (CENTER) mean.at[row] = high + low;
            rstd.at[row] = scale;
        }
    }
}
