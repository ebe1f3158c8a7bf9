// Rows of heads: LANES neighbouring lanes have a head, the heads of a row lie side by side, and where a subgroup, which
// is then a workgroup, has lanes for several rows it takes as many at a time. A row with more heads than the workgroup
// has room for comes in several turns. What a lane has of a head it keeps in registers, or reads again (ONCE).
//
// WIDTH is a head's. All invocations take part in sums.
#include "lib/group.glsl"
#include "lib/row_registers.glsl"

layout(constant_id = 5) const uint HEADS = 1;

const uint ROOM = GROUP / LANES;  // heads at a time
const uint ROWS_AT_ONCE = GROUP == SUBGROUP && ROOM > HEADS ? ROOM / HEADS : 1;
const uint TURNS = (HEADS + ROOM - 1) / ROOM;
const bool ONCE = TURNS == 1 && STRIPS == 1;

uint place() { return gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID; }

// The lane's row, of those at once, and its head; some lanes have none.
uint own_row() { return ROWS_AT_ONCE > 1 ? place() / LANES / HEADS : 0; }
uint any_head(uint turn) { return ROWS_AT_ONCE > 1 ? place() / LANES % HEADS : turn * ROOM + place() / LANES; }
uint own_head(uint turn) { return min(any_head(turn), HEADS - 1); }
bool has_head(uint turn) { return own_row() < ROWS_AT_ONCE && any_head(turn) < HEADS; }

// Whether the lane is the one of its head that writes what there is once to a head, or to a row.
bool leads_head() { return place() % LANES == 0; }
bool leads_row(uint turn) { return leads_head() && own_head(turn) == 0; }

// Of the lanes that share a head.
float sum_over_head(float x) {
    [[unroll]] for (uint bit = 1; bit < LANES; bit *= 2) x += subgroupShuffleXor(x, bit);
    return x;
}

// Of the lanes that share a row.
float sum_over_row(float x) {
    if (ROWS_AT_ONCE == 1) return group_sum(x);
    float own = 0.0;
    [[unroll]] for (uint r = 0; r < ROWS_AT_ONCE; ++r) {
        float total = 0.0;
        [[unroll]] for (uint i = 0; i < HEADS * LANES; ++i) total += subgroupBroadcast(x, r * HEADS * LANES + i);
        own = own_row() == r ? total : own;
    }
    return own;
}
