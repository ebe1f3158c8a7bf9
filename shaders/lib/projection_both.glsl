// A head to a lane, the heads of a row side by side: as many whole rows at a time as a subgroup, which is a workgroup,
// has lanes for. Needs ROW_PER_LANE, GROUPS up to SUBGROUP, and heads of one strip.
#include "lib/projection.glsl"

const uint ROWS_AT_ONCE = SUBGROUP / GROUPS;

uint own_row() { return gl_SubgroupInvocationID / GROUPS; }
uint own_head() { return gl_SubgroupInvocationID % GROUPS; }

// Whether this lane has a row, of those from `start`, that lies before `end`.
bool has_row(uint start, uint end) { return own_row() < ROWS_AT_ONCE && start + own_row() < end; }

// Of the lanes that share a row.
float sum_over_row(float x) {
    float own = 0.0;
    [[unroll]] for (uint r = 0; r < ROWS_AT_ONCE; ++r) {
        float total = 0.0;
        [[unroll]] for (uint h = 0; h < GROUPS; ++h) total += subgroupBroadcast(x, r * GROUPS + h);
        own = own_row() == r ? total : own;
    }
    return own;
}
