// d_table[i] = Σ d_y[r] over the rows r with indices[r] = i, in order, for every i that occurs. Other rows are not touched.
//
// Shapes: indices [rows], d_y [rows, width], d_table [vocabulary, width]. A workgroup of one subgroup takes every `groups`-th
// row: where an index occurs first, it finds the later ones, a subgroup of rows at a time, and sums its d_table row in
// registers. So every d_table row has one owner, and there are no atomics.
// Numerics: fp32, in order of the rows.
#version 460
#include "lib/args.glsl"

layout(constant_id = 2) const uint COLUMNS = 4;  // per lane and sweep over the rows

layout(push_constant, scalar) uniform Args {
    InInt indices;
    In d_y;
    Out d_table;
    uint rows;
    uint width;
    uint vocabulary;
    uint groups;
};

int index(uint row) { return clamp(indices.at[min(row, rows - 1)], 0, int(vocabulary) - 1); }

bool occurs_before(uint row, int wanted) {
    bool found = false;
    for (uint r = 0; r < row && !found; r += GROUP) {
        const uint mine = r + gl_SubgroupInvocationID;
        found = subgroupBallotBitCount(subgroupBallot(mine < row && index(mine) == wanted)) > 0;
    }
    return found;
}

void main() {
    const uint lane = gl_SubgroupInvocationID;
    for (uint row = group_index(); row < rows; row += groups) {
        const int wanted = index(row);
        if (occurs_before(row, wanted)) continue;
        for (uint first = 0; first < width; first += GROUP * COLUMNS) {
            float sum[COLUMNS];
            [[unroll]] for (uint k = 0; k < COLUMNS; ++k) sum[k] = 0.0;
            for (uint r = row; r < rows; r += GROUP) {
                const bool same = r + lane < rows && index(r + lane) == wanted;
                uvec4 found = subgroupBallot(same);
                while (subgroupBallotBitCount(found) > 0) {
                    const uint next = subgroupBallotFindLSB(found);
                    found[next / 32] &= ~(1u << (next % 32));
                    const uint at = (r + next) * width;
                    // Lanes past the end add the last column again and keep it to themselves.
                    [[unroll]] for (uint k = 0; k < COLUMNS; ++k)
                        sum[k] += d_y.at[at + min(first + k * GROUP + lane, width - 1)];
                }
            }
            [[unroll]] for (uint k = 0; k < COLUMNS; ++k) {
                const uint j = first + k * GROUP + lane;
                if (j < width) d_table.at[uint(wanted) * width + j] = sum[k];
            }
        }
    }
}
