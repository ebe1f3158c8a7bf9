// y[k, c] = Σ x[r, c] over the rows r of the k-th run of `run` rows; a second launch with one run adds up the first
// launch's sums. With ROW_SCALE rows are multiplied by factors, one per rows_per_scale neighbouring rows.
//
// A workgroup computes GROUP · PAIRS pairs of neighbouring sums of one run, its lanes along the columns.
// Numerics: fp32, rows added in order; rounding depends on the length of the runs, never on timing.
#version 460
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint PAIRS = 4;     // per lane
layout(constant_id = 3) const uint LAYOUT = SCALAR;  // layout of x; SCALAR unless width and all rows' starts are even
layout(constant_id = 4) const bool ROW_SCALE = false;

layout(push_constant) uniform Args {
    In x;
    In row_scale;
    Out y;
    uint rows;
    uint width;
    uint x_pitch;
    uint run;
    uint rows_per_scale;
};

void main() {
    const uint blocks = (width + GROUP * PAIRS * 2 - 1) / (GROUP * PAIRS * 2);
    const uint k = group_index() / blocks;
    const uint first = k * run;
    const uint end = min(first + run, rows);
    if (first >= rows) return;
    const uint column = (group_index() % blocks * GROUP * PAIRS + gl_LocalInvocationID.x) * 2;

    // Lanes past the last column add the last ones again and do not store them.
    vec2 sum[PAIRS];
    uint at[PAIRS];
    uint next[PAIRS];
    [[unroll]] for (uint j = 0; j < PAIRS; ++j) {
        const uint c = column + j * GROUP * 2;
        sum[j] = vec2(0.0);
        at[j] = first * x_pitch + min(c, LAYOUT != SCALAR ? width - 2 : width - 1);
        next[j] = first * x_pitch + min(c + 1, width - 1);
    }
    for (uint r = first; r < end; ++r) {
        const float factor = ROW_SCALE ? row_scale.at[r / rows_per_scale] : 1.0;
        [[unroll]] for (uint j = 0; j < PAIRS; ++j) {
            sum[j] += factor * (LAYOUT != SCALAR ? load_two(x, at[j], LAYOUT) : vec2(x.at[at[j]], x.at[next[j]]));
            at[j] += x_pitch;
            next[j] += x_pitch;
        }
    }
    [[unroll]] for (uint j = 0; j < PAIRS; ++j) {
        const uint c = column + j * GROUP * 2;
        if (c < width) store_some(y, k * width + c, sum[j], c + 1 < width, min(LAYOUT, VEC2));
    }
}
