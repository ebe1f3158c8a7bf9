// Chains the rows of each index: head[i] is the first row r with indices[r] = i, next[r] the next row after r with the
// same index; `rows` if there is none.
//
// Shapes: indices and next [rows], head [vocabulary]. Invocation k of `lanes`, a power of two, owns the indices i with
// i mod lanes = k. It visits all rows backwards and links rows with its own indices, so invocations share nothing, and
// the result does not depend on timing.
#version 460
#include "lib/args.glsl"

layout(push_constant) uniform Args {
    InInt indices;
    InOutInt head;
    OutInt next;
    uint rows;
    uint vocabulary;
    uint lanes;
};

const uint AHEAD = 8;  // concurrent loads

void main() {
    const uint mine = group_index() * GROUP + gl_LocalInvocationID.x;
    if (mine >= lanes) return;
    for (uint i = mine; i < vocabulary; i += lanes) head.at[i] = int(rows);
    for (uint behind = rows; behind > 0; behind -= min(behind, AHEAD)) {
        int index[AHEAD];
        [[unroll]] for (uint k = 0; k < AHEAD; ++k)
            index[k] = clamp(indices.at[max(behind, k + 1) - k - 1], 0, int(vocabulary) - 1);
        [[unroll]] for (uint k = 0; k < AHEAD; ++k) {
            if (k >= behind || (uint(index[k]) & (lanes - 1)) != mine) continue;
            const uint row = behind - k - 1;
            next.at[row] = head.at[index[k]];
            head.at[index[k]] = int(row);
        }
    }
}
