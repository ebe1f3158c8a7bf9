// Rows of heads: LANES neighbouring lanes have a head, and as many heads are taken at a time as the workgroup has lanes
// for. Where sums go over whole rows (OF_ROWS), a subgroup that is a workgroup takes as many rows at once as it has
// room for, and a row with more heads than that comes in several turns; else heads follow one another across the ends
// of rows, so that no lane idles. What a lane has of a head it keeps in registers, or reads again (ONCE).
//
// WIDTH is a head's; a kernel of attention has HEADS already, too. All invocations take part in sums.
#include "lib/group.glsl"
#include "lib/row_registers.glsl"

#ifndef WIDTH
layout(constant_id = 5) const uint HEADS = 1;
#endif
layout(constant_id = 28) const bool OF_ROWS = false;

const uint ROOM = GROUP / LANES;  // heads at a time
const uint ROWS_AT_ONCE = GROUP == SUBGROUP && ROOM > HEADS ? ROOM / HEADS : 1;
const uint TURNS = OF_ROWS ? (HEADS + ROOM - 1) / ROOM : 1;
const bool ONCE = TURNS == 1 && STRIPS == 1;

uint place() { return ROOM == 1 ? 0 : (gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID) / LANES; }

// How often heads are taken to get through so many rows.
uint steps_through(uint rows) {
    return OF_ROWS ? (rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE : (rows * HEADS + ROOM - 1) / ROOM;
}

// The lane's row, counted from the workgroup's first, and its head; some lanes have none.
uint row_of(uint step) {
    if (!OF_ROWS) return (step * ROOM + place()) / HEADS;
    return ROWS_AT_ONCE > 1 ? step * ROWS_AT_ONCE + place() / HEADS : step;
}
// Whether it is one of `rows`, known before the kernel runs where all lanes have the same.
bool in_rows(uint step, uint rows) { return (OF_ROWS ? ROWS_AT_ONCE : ROOM) == 1 || row_of(step) < rows; }
uint any_head(uint step, uint turn) {
    if (!OF_ROWS) return (step * ROOM + place()) % HEADS;
    return ROWS_AT_ONCE > 1 ? place() % HEADS : turn * ROOM + place();
}
uint head_of(uint step, uint turn) { return min(any_head(step, turn), HEADS - 1); }
bool has_head(uint step, uint turn) {
    if (!OF_ROWS) return true;
    return place() < ROWS_AT_ONCE * HEADS && any_head(step, turn) < HEADS;
}

// Whether the lane is the one of its head that writes what there is once to a head, or to a row.
bool leads_head() { return gl_SubgroupInvocationID % LANES == 0; }
bool leads_row(uint head) { return leads_head() && head == 0; }

// Of each `count` neighbouring lanes of a subgroup. To lavapipe a broadcast is one instruction, an exchange a loop over
// the lanes.
float sum_of_neighbours(float x, uint count) {
    if (count == 1) return x;
    if (!CPU && (count & (count - 1)) == 0) {
        [[unroll]] for (uint bit = 1; bit < count; bit *= 2) x += subgroupShuffleXor(x, bit);
        return x;
    }
    if (count == GROUP) return group_sum(x);
    float own = 0.0;
    [[unroll]] for (uint first = 0; first + count <= SUBGROUP; first += count) {
        float total = 0.0;
        [[unroll]] for (uint i = 0; i + 1 < count; i += 2)
            total += subgroupBroadcast(x, first + i) + subgroupBroadcast(x, first + i + 1);
        if (count % 2 == 1) total += subgroupBroadcast(x, first + count - 1);
        own = gl_SubgroupInvocationID / count == first / count ? total : own;
    }
    return own;
}

// Of the lanes that share a head, or a row.
float sum_over_head(float x) { return sum_of_neighbours(x, LANES); }
float sum_over_row(float x) { return ROWS_AT_ONCE > 1 ? sum_of_neighbours(x, HEADS * LANES) : group_sum(x); }
