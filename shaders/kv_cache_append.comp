#version 460
// whole[b, length − T + t] = rows[b, t]: new rows appended to a cache [B, S, C] that holds `length` rows afterwards.
//
// One workgroup per row, lanes side by side along it; a row that would lie outside the cache is not stored.
#include "lib/args.glsl"

layout(push_constant, scalar) uniform Args {
    InOut whole;
    In rows;
    InInt length;
    uint row_count;  // B·T
    uint fresh;      // T
    uint capacity;   // S
    uint width;
    uint rows_pitch;
};

void main() {
    const uint row = group_index();
    if (row >= row_count) return;
    const int place = length.at[0] - int(fresh) + int(row % fresh);
    if (place < 0 || place >= int(capacity)) return;
    const uint to = (row / fresh * capacity + uint(place)) * width;
    for (uint i = gl_LocalInvocationID.x; i < width; i += GROUP) whole.at[to + i] = rows.at[row * rows_pitch + i];
}
