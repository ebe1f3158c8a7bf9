// Register tiles shared by the three attention kernels.
//
// One subgroup owns ROWS_PER_LANE · SUBGROUP rows of a matrix, ROWS_PER_LANE per lane, and reads the rows of another
// matrix BLOCK_K at a time. The lanes load these side by side and broadcast them to all lanes number by number, so all
// values of an own row are in one lane: maxima, sums and exponentials of rows never cross lanes. No shared memory, no
// barrier, any subgroup size.
//
// Functions take the rows' width, D or D_V, which is a constant because every loop over registers must unroll (hence no
// `break` or `continue`); arrays have room for the larger width.
//
// Why: on lavapipe a load costs as much as some thirty multiply-adds, so each load serves ROWS_PER_LANE · SUBGROUP
// rows; a broadcast from a constant lane costs as much as one multiply-add, any other exchange between lanes as much as
// fifty.

#include "attention/attention_options.glsl"

layout(constant_id = 3) const uint ROWS_PER_LANE = 2;
layout(constant_id = 9) const uint BLOCK_K = 4;  // rows of the other matrix per block, at most SUBGROUP

const uint STEP = LAYOUT != SCALAR ? 2 : 1;  // columns per load
const uint ROWS = ROWS_PER_LANE * SUBGROUP;  // per subgroup
const uint WIDEST = D > D_V ? D : D_V;
const uint OWN = ROWS_PER_LANE * WIDEST;      // registers for a lane's rows
const uint TILE = BLOCK_K * ROWS_PER_LANE;    // for one number per own row and row of the block
const uint BLOCK = (BLOCK_K * WIDEST / STEP + SUBGROUP - 1) / SUBGROUP * STEP;  // for a block, without gaps

uint lane() { return gl_SubgroupInvocationID; }

// Index of this lane's row r if the subgroup's rows start at `first`.
uint own_row(uint first, uint r) { return first + r * SUBGROUP + lane(); }

// Loads the lane's rows. Rows past the end repeat the last one, and are not stored.
void load_own(In x, uint width, uint base, uint pitch, uint first, uint count, out float rows[OWN],
              uint form) {
    [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r) {
        const uint at = base + min(own_row(first, r), count - 1) * pitch;
        [[unroll]] for (uint d = 0; d < width; d += STEP) {
            const vec2 x2 = load_some(x, at + d, STEP == 2, form);
            rows[r * width + d] = x2.x;
            if (STEP == 2) rows[r * width + d + STEP - 1] = x2.y;
        }
    }
}

void load_own(In x, uint width, uint base, uint pitch, uint first, uint count, out float rows[OWN]) {
    load_own(x, width, base, pitch, first, count, rows, LAYOUT);
}

void store_own(Out y, uint width, uint base, uint pitch, uint first, uint count, float rows[OWN], uint form) {
    [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r) {
        const uint row = own_row(first, r), at = base + row * pitch;
        if (row < count) {
            [[unroll]] for (uint d = 0; d < width; d += STEP)
                store_some(y, at + d, vec2(rows[r * width + d], rows[r * width + d + STEP - 1]), STEP == 2, form);
        }
    }
}

void store_own(Out y, uint width, uint base, uint pitch, uint first, uint count, float rows[OWN]) {
    store_own(y, width, base, pitch, first, count, rows, LAYOUT);
}

// Loads BLOCK_K rows of x from `start` on.
void load_block(In x, uint width, uint base, uint pitch, uint start, uint count, out float block[BLOCK]) {
    [[unroll]] for (uint i = 0; i < (BLOCK_K * width / STEP + SUBGROUP - 1) / SUBGROUP; ++i) {
        const uint at = min((i * SUBGROUP + lane()) * STEP, BLOCK_K * width - STEP);
        const vec2 x2 = load_some(x, base + min(start + at / width, count - 1) * pitch + at % width, STEP == 2, LAYOUT);
        block[i * STEP] = x2.x;
        if (STEP == 2) block[i * STEP + STEP - 1] = x2.y;
    }
}

// Column d of row j of the block, in all lanes.
float of_block(float block[BLOCK], uint width, uint j, uint d) {
    const uint at = j * width + d;
    return subgroupBroadcast(block[at / (STEP * SUBGROUP) * STEP + at % STEP], at / STEP % SUBGROUP);
}

// tile[j, r] = <row r of the lane, row j of the block>.
void dot_rows(uint width, float rows[OWN], float block[BLOCK], out float tile[TILE]) {
    [[unroll]] for (uint i = 0; i < TILE; ++i) tile[i] = 0.0;
    [[unroll]] for (uint d = 0; d < width; ++d)
        [[unroll]] for (uint j = 0; j < BLOCK_K; ++j) {
            const float x = of_block(block, width, j, d);
            [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r)
                tile[j * ROWS_PER_LANE + r] += rows[r * width + d] * x;
        }
}

// Row r of the lane's sum += Σ_j tile[j, r] · row j of the block.
void add_rows(uint width, float tile[TILE], float block[BLOCK], inout float sum[OWN]) {
    [[unroll]] for (uint d = 0; d < width; ++d)
        [[unroll]] for (uint j = 0; j < BLOCK_K; ++j) {
            const float x = of_block(block, width, j, d);
            [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r)
                sum[r * width + d] += tile[j * ROWS_PER_LANE + r] * x;
        }
}

// Multiplies the lane's row r of x by `factor`; sets it to 0, even from NaN, unless it `counts`.
void scale_row(uint width, uint r, bool counts, float factor, inout float x[OWN]) {
    [[unroll]] for (uint d = 0; d < width; ++d) x[r * width + d] = counts ? x[r * width + d] * factor : 0.0;
}
