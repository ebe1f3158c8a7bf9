// d_table[i] = Σ d_y[r] over the rows r with index i, in ascending order; 0 if there are none.
//
// Shapes: indices and order [rows] (order: the rows sorted by index), d_y [rows, width], partial [rows / CHUNK, width]
// from embedding_chunk_sum, d_table [vocabulary, width]. A workgroup computes `per_group` ≤ MOST rows of d_table.
// Passes: 1. for each row of d_table a lane finds the begin of its run of sorted rows; 2. the workgroup adds the rows
// before the first whole chunk of the run, the sums of its whole chunks, and the rows after them.
// Numerics: fp32; the order of additions depends on the indices alone.
#version 460
#include "lib/args.glsl"
#include "movement/sorted_rows.glsl"

layout(push_constant) uniform Args {
    InInt indices;
    InInt order;
    In d_y;
    In partial;
    Out d_table;
    uint rows;
    uint width;
    uint vocabulary;
    uint per_group;
};

const uint MOST = 32;  // runtime/ops/movement/embedding.cpp

shared uint run_begin[MOST + 1];

// First place among the sorted rows whose index is at least `index`.
uint lower_bound(uint index) {
    uint begin = 0, end = rows;
    while (begin < end) {
        const uint middle = begin + (end - begin) / 2;
        if (index_at(indices, order, middle, vocabulary) < index)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

void main() {
    const uint first = group_index() * per_group, count = min(per_group, vocabulary - first);
    for (uint i = gl_LocalInvocationID.x; i <= count; i += GROUP) run_begin[i] = lower_bound(first + i);
    barrier();
    for (uint i = 0; i < count; ++i) {
        const uint begin = run_begin[i], end = run_begin[i + 1];
        uint first_chunk = (begin + CHUNK - 1) / CHUNK, end_chunk = end / CHUNK;
        const bool chunks = first_chunk < end_chunk;
        const uint head_end = chunks ? first_chunk * CHUNK : end, tail = chunks ? end_chunk * CHUNK : end;
        for (uint column = gl_LocalInvocationID.x; column < width; column += GROUP * COLUMNS) {
            float sum[COLUMNS];
            clear(sum);
            add_rows(sum, order, d_y, begin, head_end, column, width);
            for (uint c = first_chunk; c < end_chunk; ++c)
                [[unroll]] for (uint k = 0; k < COLUMNS; ++k)
                    sum[k] += partial.at[c * width + min(column + k * GROUP, width - 1)];
            add_rows(sum, order, d_y, tail, end, column, width);
            store(d_table, sum, (first + i) * width, column, width);
        }
    }
}
