// d_table[i] = Σ d_y[r] over the rows r with index i, in ascending order; 0 if there are none.
//
// Shapes: head [vocabulary] and next [rows] from embedding_chain, d_y [rows, width], d_table [vocabulary, width]. A
// workgroup computes every `groups`-th row of d_table, COLUMNS elements per lane at a time, in registers.
// Numerics: fp32, one addition per row.
#version 460
#include "lib/args.glsl"

layout(constant_id = 2) const uint COLUMNS = 4;

layout(push_constant) uniform Args {
    InInt head;
    InInt next;
    In d_y;
    Out d_table;
    uint rows;
    uint width;
    uint vocabulary;
    uint groups;
};

void main() {
    const uint lane = gl_LocalInvocationID.x;
    for (uint i = group_index(); i < vocabulary; i += groups) {
        for (uint first = 0; first < width; first += GROUP * COLUMNS) {
            float sum[COLUMNS];
            [[unroll]] for (uint k = 0; k < COLUMNS; ++k) sum[k] = 0.0;
            for (uint row = uint(head.at[i]); row < rows; row = uint(next.at[row])) {
                // Lanes past the end add the last column again and do not store it.
                [[unroll]] for (uint k = 0; k < COLUMNS; ++k)
                    sum[k] += d_y.at[row * width + min(first + k * GROUP + lane, width - 1)];
            }
            [[unroll]] for (uint k = 0; k < COLUMNS; ++k) {
                const uint j = first + k * GROUP + lane;
                if (j < width) d_table.at[i * width + j] = sum[k];
            }
        }
    }
}
