// y[r] = table[indices[r]].
//
// Shapes: table [vocabulary, width] with its pitch, indices [rows], y [rows, width]. A workgroup takes `per_group` rows
// one after the other. An index outside the vocabulary reads the first or last row of the table.
#version 460
#include "lib/args.glsl"

layout(push_constant) uniform Args {
    In table;
    InInt indices;
    Out y;
    uint rows;
    uint width;
    uint vocabulary;
    uint table_pitch;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group;
    const uint last = min(first + per_group, rows);
    for (uint row = first; row < last; ++row) {
        const uint from = uint(clamp(indices.at[row], 0, int(vocabulary) - 1)) * table_pitch;
        for (uint j = gl_LocalInvocationID.x; j < width; j += GROUP)
            y.at[row * width + j] = table.at[from + j];
    }
}
