#version 460
// Rotary position embedding: rotates the pair (a, b) of elements i and i + HALF of every head of queries and keys by
// angle i of the row's position, to (a cos − b sin, b cos + a sin); by −angle if CLOCKWISE.
//
// Shapes: q, q_turned [rows, HEADS·2·HALF], k, k_turned [rows, K_HEADS·2·HALF], each absent if it has no heads, table
// [table_rows, 2·HALF], in each row cosines, then sines. The position of row r is positions[r % position_count] if
// GIVEN, else r % position_count. A workgroup takes `per_group` consecutive rows, ABREAST heads at a time, two angles
// per invocation. q_turned may be q, and k_turned k.
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint HEADS = 1;
layout(constant_id = 3) const uint HALF = 32;
layout(constant_id = 4) const uint ABREAST = 1;
layout(constant_id = 5) const bool CLOCKWISE = false;
layout(constant_id = 6) const bool GIVEN = false;
layout(constant_id = 7) const uint K_HEADS = 0;
layout(constant_id = 8) const uint LAYOUT_Q = SCALAR;
layout(constant_id = 9) const uint LAYOUT_K = SCALAR;
layout(constant_id = 10) const uint LAYOUT_Q_TURNED = SCALAR;
layout(constant_id = 11) const uint LAYOUT_K_TURNED = SCALAR;
layout(constant_id = 12) const uint LAYOUT_TABLE = SCALAR;

const uint PAIRS = (HALF + 1) / 2;  // pairs of angles

layout(push_constant) uniform Args {
    In q;
    In k;
    In table;
    InInt positions;
    Out q_turned;
    Out k_turned;
    uint rows;
    uint position_count;
    uint table_rows;
    uint q_pitch;
    uint k_pitch;
    uint q_turned_pitch;
    uint k_turned_pitch;
    uint table_pitch;
    uint per_group;
};

struct Angles {
    vec2 cosine;
    vec2 sine;
};

void turn(In x, uint from, uint layout_x, Out y, uint to, uint layout_y, bool two, Angles by) {
    const vec2 a = load_some(x, from, two, layout_x), b = load_some(x, from + HALF, two, layout_x);
    store_some(y, to, a * by.cosine - b * by.sine, two, layout_y);
    store_some(y, to + HALF, b * by.cosine + a * by.sine, two, layout_y);
}

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
            const vec2 sine = load_some(table, angle + HALF, two, LAYOUT_TABLE);
            const Angles by = Angles(load_some(table, angle, two, LAYOUT_TABLE), CLOCKWISE ? -sine : sine);
            for (uint head = lane / PAIRS; head < HEADS + K_HEADS; head += ABREAST) {
                const uint q_at = head * 2 * HALF + i, k_at = q_at - HEADS * 2 * HALF;
                if (head < HEADS)
                    turn(q, row * q_pitch + q_at, LAYOUT_Q, q_turned, row * q_turned_pitch + q_at, LAYOUT_Q_TURNED, two,
                         by);
                else
                    turn(k, row * k_pitch + k_at, LAYOUT_K, k_turned, row * k_turned_pitch + k_at, LAYOUT_K_TURNED, two,
                         by);
            }
        }
    }
}
