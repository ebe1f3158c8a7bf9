#version 460
// d_weight[p, q, c] = Σ d_y[b, i, j, c] · x[b, i + p − K/2, j + q − K/2, c] and d_bias[c] = Σ d_y[b, i, j, c] over the
// pixels of each run of `run` rows of pixels, with zeros around the image; K/2 is rounded down.
//
// Shapes: x, d_y [samples, leading + height · width, channels]; partial [runs, sums], a run's sums being [K, K,
// channels] and, if there is a bias, [channels]. An invocation makes TAPS neighbouring sums of a row of taps, or those
// of the bias, for a pair of channels. `run_groups` workgroups make the sums of a run.
// Numerics: fp32, pixels added in order; rounding depends on the length of the runs, never on timing.
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint K = 3;
layout(constant_id = 3) const uint TAPS = 3;
layout(constant_id = 4) const uint LAYOUT_X = SCALAR;
layout(constant_id = 5) const uint LAYOUT_DY = SCALAR;

layout(push_constant) uniform Args {
    In x;
    In d_y;
    Out partial;
    uint invocations;  // of a run
    uint run_groups;
    uint run;
    uint rows;  // of pixels, in all samples
    uint channels;
    uint height;
    uint width;
    uint leading;
    uint x_pitch;
    uint d_pitch;
    uint sums;
};

// Channels c and, if there are `two`, c + 1 of a pixel in the row of pixels that begins with token `row`. Every factor
// of the bias is 1.
vec2 factor(bool of_bias, uint row, int column, uint c, bool two) {
    const bool inside = !of_bias && column >= 0 && column < int(width);
    const vec2 value = load_some(x, (row + (inside ? column : 0)) * x_pitch + c, two, LAYOUT_X);
    return inside ? value : vec2(of_bias ? 1.0 : 0.0);
}

void main() {
    const uint pairs = (channels + 1) / 2, blocks = (K + TAPS - 1) / TAPS;
    const uint index = group_index() % run_groups * GROUP + gl_LocalInvocationID.x;
    if (index >= invocations) return;
    const uint c = 2 * (index % pairs), p = index / pairs / blocks, q = index / pairs % blocks * TAPS;
    const bool two = c + 1 < channels, of_bias = p == K;
    const int half_side = int(K / 2), down = of_bias ? 0 : int(p) - half_side, begin = int(q) - half_side;
    const uint k = group_index() / run_groups, end = min((k + 1) * run, rows);

    vec2 sum[TAPS], seen[TAPS];  // seen[t] is the factor of the tap q + t
    [[unroll]] for (uint t = 0; t < TAPS; ++t) sum[t] = vec2(0.0);
    for (uint r = k * run; r < end; ++r) {
        const uint image = r / height * (leading + height * width) + leading;
        const int i = int(r % height), from = i + down;
        if (from < 0 || from >= int(height)) continue;
        const uint row = image + uint(from) * width;
        [[unroll]] for (uint t = 1; t < TAPS; ++t) seen[t] = factor(of_bias, row, begin + int(t) - 1, c, two);
        for (uint j = 0; j < width; ++j) {
            [[unroll]] for (uint t = 0; t + 1 < TAPS; ++t) seen[t] = seen[t + 1];
            seen[TAPS - 1] = factor(of_bias, row, int(j) + begin + int(TAPS) - 1, c, two);
            const vec2 d = load_some(d_y, (image + uint(i) * width + j) * d_pitch + c, two, LAYOUT_DY);
            [[unroll]] for (uint t = 0; t < TAPS; ++t) sum[t] += d * seen[t];
        }
    }
    // The bias has one sum, where the other rows have K.
    const uint there = of_bias ? 1 : K;
    [[unroll]] for (uint t = 0; t < TAPS; ++t)
        if (q + t < there)
            store_some(partial, k * sums + (p * K + q + t) * channels + c, sum[t], two, SCALAR);
}
