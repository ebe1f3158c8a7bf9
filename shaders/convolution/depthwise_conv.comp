#version 460
// y[b, i, j, c] = bias[c] + Σ_{p, q} weight[p, q, c] · x[b, i + p − K/2, j + q − K/2, c], with zeros around the image;
// K/2 is rounded down. FLIPPED takes weight[K − 1 − p, K − 1 − q, c]: x's gradient from y's.
//
// Shapes: x, y [samples, leading + height · width, channels], y contiguous; weight [K, K, channels]; bias [channels].
// Leading tokens of y are 0. An invocation computes a strip of STRIP neighbouring pixels of a row, or a leading token,
// for a pair of channels; the next invocation has the next pair. A workgroup sweeps `per_group` strips.
// Numerics: fp32, in order of p, then q.
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint K = 3;
layout(constant_id = 3) const uint STRIP = 4;
layout(constant_id = 4) const bool FLIPPED = false;
layout(constant_id = 5) const bool BIAS = false;
layout(constant_id = 6) const uint LAYOUT_X = SCALAR;
layout(constant_id = 7) const uint LAYOUT_Y = SCALAR;
layout(constant_id = 8) const uint LAYOUT_W = SCALAR;  // weight and bias

layout(push_constant) uniform Args {
    In x;
    In weight;
    In bias;
    Out y;
    uint strips;  // in all samples, for all pairs of channels
    uint per_group;
    uint channels;
    uint height;
    uint width;
    uint leading;
    uint x_pitch;
};

// Channels c and, if there are `two`, c + 1 of a pixel in the row of pixels that begins with token `row`.
vec2 pixel(uint row, int column, uint c, bool two) {
    const bool inside = column >= 0 && column < int(width);
    const vec2 value = load_some(x, (row + (inside ? column : 0)) * x_pitch + c, two, LAYOUT_X);
    return inside ? value : vec2(0.0);
}

void convolve(uint index) {
    const uint pairs = (channels + 1) / 2, row_strips = (width + STRIP - 1) / STRIP;
    const uint c = 2 * (index % pairs), parts = leading + height * row_strips;
    const uint sample_first = index / pairs / parts * (leading + height * width), part = index / pairs % parts;
    const bool two = c + 1 < channels;
    if (part < leading) {
        store_some(y, (sample_first + part) * channels + c, vec2(0.0), two, LAYOUT_Y);
        return;
    }
    const uint image = sample_first + leading;
    const int i = int((part - leading) / row_strips), left = int((part - leading) % row_strips * STRIP);
    const int half_side = int(K / 2);

    vec2 sum[STRIP], seen[STRIP];  // seen[s] is the pixel under the tap for result s
    [[unroll]] for (uint s = 0; s < STRIP; ++s)
        sum[s] = BIAS ? load_some(bias, c, two, LAYOUT_W) : vec2(0.0);
    // Taps outside of the image for every result are left out.
    const int last = min(int(K), int(height) + half_side - i), q_last = min(int(K), int(width) + half_side - left);
    const int q_first = max(0, half_side - left - int(STRIP) + 1);
    for (int p = max(0, half_side - i); p < last; ++p) {
        const uint row = image + uint(i + p - half_side) * width;
        const int begin = left - half_side;
        [[unroll]] for (uint s = 1; s < STRIP; ++s) seen[s] = pixel(row, begin + q_first + int(s) - 1, c, two);
        for (int q = q_first; q < q_last; ++q) {
            [[unroll]] for (uint s = 0; s + 1 < STRIP; ++s) seen[s] = seen[s + 1];
            seen[STRIP - 1] = pixel(row, begin + q + int(STRIP) - 1, c, two);
            const uint tap = uint(p) * K + uint(q);
            const vec2 w = load_some(weight, (FLIPPED ? K * K - 1 - tap : tap) * channels + c, two, LAYOUT_W);
            [[unroll]] for (uint s = 0; s < STRIP; ++s) sum[s] += w * seen[s];
        }
    }
    [[unroll]] for (uint s = 0; s < STRIP; ++s) {
        const uint j = uint(left) + s;
        if (j < width) store_some(y, (image + uint(i) * width + j) * channels + c, sum[s], two, LAYOUT_Y);
    }
}

void main() {
    const uint first = group_index() * per_group, end = min(first + per_group, strips);
    for (uint index = first + gl_LocalInvocationID.x; index < end; index += GROUP) convolve(index);
}
