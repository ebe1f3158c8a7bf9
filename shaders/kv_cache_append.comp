#version 460
// whole[b, lengths[b] − T + t] = rows[b, t]: new rows appended to a cache [B, S, C] that holds so many rows afterwards;
// of one length, all sequences.
//
// One workgroup per row, lanes side by side along it, a pair each; a row that would lie outside the cache is not
// stored. Either side may be in 16 bits, to which numbers are rounded as they are stored.
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint LAYOUT = SCALAR;       // of the cache
layout(constant_id = 3) const uint ROWS_LAYOUT = SCALAR;

layout(push_constant) uniform Args {
    InOut whole;
    In rows;
    InInt lengths;
    uint length_count;  // B or 1
    uint row_count;     // B·T
    uint fresh;         // T
    uint capacity;      // S
    uint width;
    uint rows_pitch;
};

void main() {
    const uint row = group_index();
    if (row >= row_count) return;
    const int place = lengths.at[row / fresh % length_count] - int(fresh) + int(row % fresh);
    if (place < 0 || place >= int(capacity)) return;
    const uint to = (row / fresh * capacity + uint(place)) * width, from = row * rows_pitch;
    for (uint i = 2 * gl_LocalInvocationID.x; i < width; i += 2 * GROUP) {
        const bool two = i + 1 < width;
        store_some(Out(whole), to + i, load_some(rows, from + i, two, ROWS_LAYOUT), two, LAYOUT);
    }
}
