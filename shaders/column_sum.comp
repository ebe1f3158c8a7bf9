// y[k, c] = Σ x[r, c] over the rows r of the k-th of equal runs; a second launch with one run adds up the first's.
//
// A workgroup makes GROUP · COLUMNS sums of one run, its lanes along the columns.
// Numerics: fp32, rows added in order; the length of the runs decides the rounding, never timing.
#version 460
#include "lib/args.glsl"

layout(constant_id = 2) const uint COLUMNS = 8;  // per lane

layout(push_constant, scalar) uniform Args {
    In x;
    Out y;
    uint rows;
    uint width;
    uint x_pitch;
    uint run;
};

void main() {
    const uint blocks = (width + GROUP * COLUMNS - 1) / (GROUP * COLUMNS);
    const uint k = group_index() / blocks;
    const uint first = k * run;
    const uint end = min(first + run, rows);
    if (first >= rows) return;
    const uint column = group_index() % blocks * GROUP * COLUMNS + gl_LocalInvocationID.x;

    // Lanes past the last column add that one again and keep it to themselves.
    float sum[COLUMNS];
    uint at[COLUMNS];
    [[unroll]] for (uint j = 0; j < COLUMNS; ++j) {
        sum[j] = 0.0;
        at[j] = first * x_pitch + min(column + j * GROUP, width - 1);
    }
    for (uint r = first; r < end; ++r) {
        [[unroll]] for (uint j = 0; j < COLUMNS; ++j) {
            sum[j] += x.at[at[j]];
            at[j] += x_pitch;
        }
    }
    [[unroll]] for (uint j = 0; j < COLUMNS; ++j)
        if (column + j * GROUP < width) y.at[k * width + column + j * GROUP] = sum[j];
}
