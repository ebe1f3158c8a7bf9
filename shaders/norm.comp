// y = (x − mean) · rstd · weight + bias per row, rstd = 1 / sqrt(var + eps): LayerNorm; without
// CENTER mean = 0: RMSNorm.
//
// Shapes: x [rows, WIDTH] with its pitch, y [rows, WIDTH], weight and bias [WIDTH], mean and rstd [rows]. A workgroup
// takes `per_group` rows one after the other and keeps weight and bias in registers. y may be x.
// Saves: mean (with CENTER) and rstd.
// Numerics: fp32. The mean is corrected by the mean of what it leaves, and the variance is taken
// about it: rows far from zero lose nothing but the rounding of x itself.
#version 460
#include "lib/args.glsl"
#include "lib/group.glsl"
#include "lib/row_registers.glsl"

layout(constant_id = 5) const bool CENTER = true;
layout(constant_id = 6) const bool WEIGHT = true;
layout(constant_id = 7) const bool BIAS = true;
layout(constant_id = 8) const uint LAYOUT_Y = SCALAR;
layout(constant_id = 9) const uint LAYOUT_X = SCALAR;

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
    vec2 v[STRIP], w[STRIP], b[STRIP];
    if (WEIGHT && STRIPS == 1) load_strip(weight, 0, 0, w);
    if (BIAS && STRIPS == 1) load_strip(bias, 0, 0, b);

    for (uint row = first; row < last; ++row) {
        const uint at = row * x_pitch;
        float high = 0.0;
        if (STRIPS == 1) load_strip(x, at, 0, LAYOUT_X, v);
        if (CENTER) {
            for (uint s = 0; s < STRIPS; ++s) {
                if (STRIPS > 1) load_strip(x, at, s, LAYOUT_X, v);
                [[unroll]] for (uint k = 0; k < STRIP; ++k) high += sum_of(v[k]);
            }
            high = group_sum(high) / float(WIDTH);
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
        const float low = CENTER ? group_sum(rest) / float(WIDTH) : 0.0;
        const float variance = max(group_sum(squares) / float(WIDTH) - low * low, 0.0);
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
