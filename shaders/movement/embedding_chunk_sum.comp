// partial[c] = Σ d_y[r] over chunk c of CHUNK sorted rows, if all have one index; else partial[c] is not written.
//
// Shapes: indices and order [rows] (order: the rows sorted by index), d_y [rows, width], partial [rows / CHUNK, width].
// A workgroup sums one chunk, COLUMNS elements per lane at a time.
// Numerics: fp32, rows added in order.
#version 460
#include "lib/args.glsl"
#include "movement/sorted_rows.glsl"

layout(push_constant) uniform Args {
    InInt indices;
    InInt order;
    In d_y;
    Out partial;
    uint rows;
    uint width;
    uint vocabulary;
};

void main() {
    const uint first = group_index() * CHUNK, last = first + CHUNK - 1;
    if (index_at(indices, order, first, vocabulary) != index_at(indices, order, last, vocabulary)) return;
    for (uint column = gl_LocalInvocationID.x; column < width; column += GROUP * COLUMNS) {
        float sum[COLUMNS];
        clear(sum);
        add_rows(sum, order, d_y, first, last + 1, column, width);
        store(partial, sum, group_index() * width, column, width);
    }
}
