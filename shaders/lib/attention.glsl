// Register tiles shared by the three attention kernels.
//
// One subgroup holds BLOCKS · SUBGROUP rows of width D, a row to a lane in each block ("its rows"), and meets the rows
// of another matrix TURN at a time. Those are loaded with the lanes along them and handed to all lanes number by
// number, so what belongs to a row is always in the row's own lane: maxima, sums and exponentials of rows never cross
// lanes. No shared memory, no barrier, any subgroup size.
//
// Why so: on lavapipe a load costs as much as some thirty multiply-adds, so each serves BLOCKS · SUBGROUP rows; a
// broadcast from a constant lane costs as much as one, and any other exchange between lanes as much as fifty. Every
// loop over registers must unroll, hence no `break` or `continue`.

#include "lib/attention_options.glsl"

layout(constant_id = 3) const uint BLOCKS = 2;  // rows a lane holds
layout(constant_id = 9) const uint TURN = 4;    // rows met at a time, at most SUBGROUP

const uint STEP = LAYOUT != SCALAR ? 2 : 1;  // columns to a load
const uint ROWS = BLOCKS * SUBGROUP;      // held by a subgroup
const uint HELD = BLOCKS * D;             // registers for its rows
const uint TILE = TURN * BLOCKS;          // and for one number per pair of rows
const uint LOADS = (TURN * D / STEP + SUBGROUP - 1) / SUBGROUP;
const uint MET = LOADS * STEP;            // registers for the rows it meets, which follow each other without gaps

uint lane() { return gl_SubgroupInvocationID; }

// This lane's row of block b, of rows that start at `first`.
uint own_row(uint first, uint b) { return first + b * SUBGROUP + lane(); }

// Rows past the end repeat the last one, and are not stored.
void load_own(In x, uint base, uint pitch, uint first, uint count, out float rows[HELD]) {
    [[unroll]] for (uint b = 0; b < BLOCKS; ++b) {
        const uint at = base + min(own_row(first, b), count - 1) * pitch;
        [[unroll]] for (uint d = 0; d < D; d += STEP) {
            const vec2 x2 = load_some(x, at + d, STEP == 2, LAYOUT);
            rows[b * D + d] = x2.x;
            if (STEP == 2) rows[b * D + d + STEP - 1] = x2.y;
        }
    }
}

void store_own(Out y, uint base, uint pitch, uint first, uint count, float rows[HELD]) {
    [[unroll]] for (uint b = 0; b < BLOCKS; ++b) {
        const uint row = own_row(first, b), at = base + row * pitch;
        if (row < count) {
            [[unroll]] for (uint d = 0; d < D; d += STEP)
                store_some(y, at + d, vec2(rows[b * D + d], rows[b * D + d + STEP - 1]), STEP == 2, LAYOUT);
        }
    }
}

// The next TURN rows of x.
void load_met(In x, uint base, uint pitch, uint start, uint count, out float met[MET]) {
    [[unroll]] for (uint i = 0; i < LOADS; ++i) {
        const uint at = min((i * SUBGROUP + lane()) * STEP, TURN * D - STEP);
        const vec2 x2 = load_some(x, base + min(start + at / D, count - 1) * pitch + at % D, STEP == 2, LAYOUT);
        met[i * STEP] = x2.x;
        if (STEP == 2) met[i * STEP + STEP - 1] = x2.y;
    }
}

// Column d of row j of them, in all lanes.
float of_met(float met[MET], uint j, uint d) {
    const uint at = j * D + d;
    return subgroupBroadcast(met[at / (STEP * SUBGROUP) * STEP + at % STEP], at / STEP % SUBGROUP);
}

// tile[j, b] = <the lane's row of block b, row j of those met>.
void dot_rows(float rows[HELD], float met[MET], out float tile[TILE]) {
    [[unroll]] for (uint i = 0; i < TILE; ++i) tile[i] = 0.0;
    [[unroll]] for (uint d = 0; d < D; ++d)
        [[unroll]] for (uint j = 0; j < TURN; ++j) {
            const float x = of_met(met, j, d);
            [[unroll]] for (uint b = 0; b < BLOCKS; ++b) tile[j * BLOCKS + b] += rows[b * D + d] * x;
        }
}

// The lane's row of block b of sum += Σ_j tile[j, b] · row j of those met.
void add_rows(float tile[TILE], float met[MET], inout float sum[HELD]) {
    [[unroll]] for (uint d = 0; d < D; ++d)
        [[unroll]] for (uint j = 0; j < TURN; ++j) {
            const float x = of_met(met, j, d);
            [[unroll]] for (uint b = 0; b < BLOCKS; ++b) sum[b * D + d] += tile[j * BLOCKS + b] * x;
        }
}
