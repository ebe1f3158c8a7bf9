#version 460
// cache[b, lengths[b] − T + t] = rows[b, t]: appends T new rows of keys and of values, or of one tensor, the keys, to
// caches [B, S, C]. lengths[b] is the number of rows after that; a single length holds for all sequences. The new rows
// may be followed by others that count but are not stored.
//
// One workgroup per row of keys, then one per row of values, a pair per lane; rows outside the cache are not stored.
// Rows and caches may be in 16 bits, to which numbers are rounded when they are stored.
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint LAYOUT_KEYS = SCALAR;
layout(constant_id = 3) const uint LAYOUT_VALUES = SCALAR;
layout(constant_id = 4) const uint LAYOUT_K = SCALAR;
layout(constant_id = 5) const uint LAYOUT_V = SCALAR;
layout(constant_id = 6) const uint CACHES = 2;  // 1: there are no values

layout(push_constant) uniform Args {
    InOut keys;
    InOut values;
    In k;
    In v;
    InInt lengths;
    uint length_count;  // B or 1
    uint row_count;     // B·T
    uint fresh;         // T
    uint behind;        // rows after the T
    uint capacity;      // S
    uint k_width;
    uint v_width;
    uint k_pitch;
    uint v_pitch;
};

void append(InOut cache, uint cache_layout, uint place, In rows, uint rows_layout, uint from, uint width) {
    for (uint i = 2 * gl_LocalInvocationID.x; i < width; i += 2 * GROUP) {
        const bool two = i + 1 < width;
        store_some(Out(cache), place * width + i, load_some(rows, from + i, two, rows_layout), two, cache_layout);
    }
}

void main() {
    const uint row = group_index() % row_count;
    if (group_index() >= CACHES * row_count) return;
    const int place = lengths.at[row / fresh % length_count] - int(behind + fresh) + int(row % fresh);
    if (place < 0 || place >= int(capacity)) return;
    const uint to = row / fresh * capacity + uint(place);
    if (CACHES == 1 || group_index() < row_count)
        append(keys, LAYOUT_KEYS, to, k, LAYOUT_K, row * k_pitch, k_width);
    else
        append(values, LAYOUT_VALUES, to, v, LAYOUT_V, row * v_pitch, v_width);
}
