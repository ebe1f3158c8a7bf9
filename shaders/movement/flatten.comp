#version 460
// y[first + i] = x[i] for i < count, 0 for the other elements of a row of the table; many rows.
#include "lib/args.glsl"
#include "optimizer/tensor_chunks.glsl"

struct Row {
    In x;
    uint count;
    uint first;
};
TABLE Rows { Row at[]; };

layout(push_constant) uniform Args {
    Rows rows;
    Parts parts;
    uint groups;
    Out y;
};

void main() {
    const Part part = part_of(parts, groups);
    Row row = rows.at[part.row];
    for (uint i = part.first + gl_LocalInvocationID.x; i < part.end; i += GROUP)
        y.at[row.first + i] = i < row.count ? row.x.at[i] : 0.0;
}
