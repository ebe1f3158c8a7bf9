#version 460
// Rotary position embedding: the pair (a, b) of elements i and i + HALF of every head is turned by angle i of its row's
// position, to (a cos − b sin, b cos + a sin); CLOCKWISE by −angle.
//
// Shapes: x, y [rows, HEADS·2·HALF], table [table_rows, 2·HALF], a row's cosines and then its sines. Row r stands at
// positions[r % position_count], or at r % position_count where they are not GIVEN. A workgroup takes `per_group`
// consecutive rows, ABREAST heads at a time, its invocations along them by two angles each. y may be x.
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint HEADS = 1;
layout(constant_id = 3) const uint HALF = 32;
layout(constant_id = 4) const uint ABREAST = 1;
layout(constant_id = 5) const bool CLOCKWISE = false;
layout(constant_id = 6) const bool GIVEN = false;
layout(constant_id = 7) const uint LAYOUT_X = SCALAR;
layout(constant_id = 8) const uint LAYOUT_Y = SCALAR;
layout(constant_id = 9) const uint LAYOUT_TABLE = SCALAR;

const uint PAIRS = (HALF + 1) / 2;  // of angles

layout(push_constant) uniform Args {
    In x;
    In table;
    InInt positions;
    Out y;
    uint rows;
    uint position_count;
    uint table_rows;
    uint x_pitch;
    uint y_pitch;
    uint table_pitch;
    uint per_group;
};

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, rows);
    for (uint row = first; row < end; ++row) {
        uint position = row % position_count;
        if (GIVEN) position = uint(clamp(positions.at[position], 0, int(table_rows) - 1));
        for (uint lane = gl_LocalInvocationID.x; lane < PAIRS * ABREAST; lane += GROUP) {
            const uint i = 2 * (lane % PAIRS);
            const bool two = i + 1 < HALF;
            const uint angle = position * table_pitch + i;
            const vec2 cosine = load_some(table, angle, two, LAYOUT_TABLE);
            const vec2 sine = (CLOCKWISE ? -1.0 : 1.0) * load_some(table, angle + HALF, two, LAYOUT_TABLE);
            for (uint head = lane / PAIRS; head < HEADS; head += ABREAST) {
                const uint from = row * x_pitch + head * 2 * HALF + i, to = row * y_pitch + head * 2 * HALF + i;
                const vec2 a = load_some(x, from, two, LAYOUT_X), b = load_some(x, from + HALF, two, LAYOUT_X);
                store_some(y, to, a * cosine - b * sine, two, LAYOUT_Y);
                store_some(y, to + HALF, b * cosine + a * sine, two, LAYOUT_Y);
            }
        }
    }
}
