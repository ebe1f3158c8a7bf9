#version 460
// Computes the maxima of each section of each row of logits, for sample_weights and sample.
//
// Shapes: x [B, V], rows i32 [B, 18], seen i32 [B, ceil(V / 32)], maxima i32 [B, sections, 3]. A workgroup has a
// section of `per_section` tokens.
#include "lib/args.glsl"
#include "lib/ordered.glsl"
#include "sampling/sample_weight.glsl"
#include "sampling/sample_row.glsl"

layout(push_constant) uniform Args {
    In x;
    InInt rows;
    InInt seen;
    OutInt maxima;
    uint width;
    uint x_pitch;
    uint seen_pitch;
    uint sections;
    uint per_section;
};

void main() {
    const uint row = group_index() / sections, first = group_index() % sections * per_section;
    const uint lane = gl_LocalInvocationID.x, end = min(first + per_section, width);
    const Maxima found = group_maxima(section_maxima(InSampleRow(rows).at[row], x, row * x_pitch, seen,
                                                     row * seen_pitch, first + lane, GROUP, end));
    if (lane > 0) return;
    const uint place = 3 * group_index();
    maxima.at[place] = int(found.top);
    maxima.at[place + 1] = int(found.own_top);
    maxima.at[place + 2] = int(found.bad);
}
