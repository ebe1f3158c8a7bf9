#version 460
// Computes the words of logits, which have the logits' order, and their weights, so that sample does not compute them
// repeatedly.
//
// Shapes: x [B, V], rows i32 [B, 18], seen i32 [B, ceil(V / 32)], maxima i32 [B, sections, 3] from sample_maxima, keys
// i32 [B, V], weights i32 [B, V, 2], low words first. A workgroup has a section of `per_section` tokens.
#include "lib/args.glsl"
#include "lib/ordered.glsl"
#include "sampling/sample_weight.glsl"
#include "sampling/sample_row.glsl"

layout(push_constant) uniform Args {
    In x;
    InInt rows;
    InInt seen;
    InInt maxima;
    OutInt keys;
    OutInt weights;
    uint width;
    uint x_pitch;
    uint seen_pitch;
    uint sections;
    uint per_section;
};

void main() {
    const uint row = group_index() / sections, first = group_index() % sections * per_section;
    const uint lane = gl_LocalInvocationID.x;
    const SampleRow of = InSampleRow(rows).at[row];
    Maxima found = Maxima(0, 0, NONE);
    for (uint i = lane; i < sections; i += GROUP) found = joined(found, maxima_at(maxima, row * sections + i));
    const float greatest = from_ordered(group_max(found.top));
    const uint end = min(first + per_section, of.vocabulary);
    for (uint i = first + lane; i < end; i += GROUP) {
        const float value = rescaled_logit(of, x.at[row * x_pitch + i], seen, row * seen_pitch, i);
        const uint64_t w = of.steepness.high == 0 ? 0ul : weight_below(greatest, value, of.steepness);
        keys.at[row * width + i] = int(ordered(value));
        weights.at[2 * (row * width + i)] = int(uint(w));
        weights.at[2 * (row * width + i) + 1] = int(uint(w >> 32));
    }
}
