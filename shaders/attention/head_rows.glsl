// Rows of heads: LANES neighbouring lanes share a head, and a workgroup takes HEADS_PER_PASS heads at a time. With sums
// over whole rows (OF_ROWS), a workgroup of one subgroup takes as many whole rows at once as fit, and a row with more
// heads than fit takes several passes. Otherwise heads continue across the ends of rows, so that no lane idles. A lane
// keeps its part of a head in registers if FITS_REGISTERS, else it reads the part again.
//
// WIDTH is the width of a head; kernels with attention/attention_options.glsl have HEADS already. All invocations take
// part in sums.
#include "lib/group.glsl"
#include "rows/row_registers.glsl"

#ifndef WIDTH
layout(constant_id = 5) const uint HEADS = 1;
#endif
layout(constant_id = 28) const bool OF_ROWS = false;

const uint HEADS_PER_PASS = GROUP / LANES;  // heads at a time
const uint ROWS_AT_ONCE = GROUP == SUBGROUP && HEADS_PER_PASS > HEADS ? HEADS_PER_PASS / HEADS : 1;
const uint PASSES = OF_ROWS ? (HEADS + HEADS_PER_PASS - 1) / HEADS_PER_PASS : 1;
const bool FITS_REGISTERS = PASSES == 1 && STRIPS == 1;

uint place() { return HEADS_PER_PASS == 1 ? 0 : (gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID) / LANES; }

// Number of steps for `rows` rows.
uint steps_through(uint rows) {
    return OF_ROWS ? (rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE : (rows * HEADS + HEADS_PER_PASS - 1) / HEADS_PER_PASS;
}

// The lane's row, counted from the workgroup's first, and its head; some lanes have no head.
uint row_of(uint step) {
    if (!OF_ROWS) return (step * HEADS_PER_PASS + place()) / HEADS;
    return ROWS_AT_ONCE > 1 ? step * ROWS_AT_ONCE + place() / HEADS : step;
}
// True if the lane's row is one of `rows`; a constant if all lanes have the same row.
bool in_rows(uint step, uint rows) { return (OF_ROWS ? ROWS_AT_ONCE : HEADS_PER_PASS) == 1 || row_of(step) < rows; }
uint any_head(uint step, uint pass) {
    if (!OF_ROWS) return (step * HEADS_PER_PASS + place()) % HEADS;
    return ROWS_AT_ONCE > 1 ? place() % HEADS : pass * HEADS_PER_PASS + place();
}
uint head_of(uint step, uint pass) { return min(any_head(step, pass), HEADS - 1); }
bool has_head(uint step, uint pass) {
    if (!OF_ROWS) return true;
    return place() < ROWS_AT_ONCE * HEADS && any_head(step, pass) < HEADS;
}

// True for the lane that writes values that are stored once per head, or once per row.
bool leads_head() { return gl_SubgroupInvocationID % LANES == 0; }
bool leads_row(uint head) { return leads_head() && head == 0; }

// Sum of x over each `count` neighbouring lanes of a subgroup. On lavapipe a broadcast is one instruction, an exchange
// a loop over the lanes.
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

// Sums of x over the lanes that share a head, or a row.
float sum_over_head(float x) { return sum_of_neighbours(x, LANES); }
float sum_over_row(float x) { return ROWS_AT_ONCE > 1 ? sum_of_neighbours(x, HEADS * LANES) : group_sum(x); }
