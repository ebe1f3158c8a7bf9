#version 460
// y = alpha · op(a) · b + bias + addend for TERMS terms of the sums, where op is the identity or the transpose. Fully
// unrolled, for CPU devices that combine loads to vectors (lib/uniform_loads.glsl) and whose driver bounds-checks push
// constants by branches.
//
// Shapes: a [m, k] ([k, m] if TRANSPOSE_A), b [k, n], y and addend [m, n], bias [n]; *_pitch elements between rows. m
//   is at least ROWS, n at least COLUMNS. The terms are those from `term` on; longer sums take several launches, all
//   but the first with y as addend.
// Owner: a workgroup of one subgroup has a tile of ROWS · COLUMNS in its registers: the lanes are along the columns,
//   a's elements are loaded one by one. Tiles below each other are computed one after the other, so that the
//   processor's cache holds their panel of b. The last tile in each direction begins early enough to be whole; its
//   overlap with the tile before is computed but not stored.
// Numerics: fp32, a running sum of the TERMS terms in ascending k, then alpha, bias and addend.
//
// Why: per k, VECTORS vectors of b and ROWS numbers of a, each loaded into all lanes of a vector, are used for ROWS ·
// VECTORS multiplications and additions. LLVM would change that: its scheduler computes one element after the other and
// spills the values loaded for the others, and it moves computations that only the function's last block uses to that
// block. Neither crosses branches, and each look-up in push constants is a branch: `pause` makes one every STEP terms
// and one after the last store.
#include "lib/args.glsl"
#include "lib/group.glsl"

layout(constant_id = 2) const bool TRANSPOSE_A = false;
layout(constant_id = 7) const uint ROWS = 5;
layout(constant_id = 8) const uint VECTORS = 4;
layout(constant_id = 9) const uint TERMS = 16;

const uint COLUMNS = VECTORS * SUBGROUP;
const uint SUMS = ROWS * VECTORS;
const uint STEP = 32;

const uint BIAS = 1;  // bits of `adds`
const uint ADDEND = 2;

layout(push_constant) uniform Args {
    In a;
    In b;
    In bias;    // y if no bias is added, because it is read in any case
    In addend;  // y if no addend is added
    Out y;
    uint m;
    uint n;
    uint term;
    uint a_row;  // row of op(a) that belongs to y's first row
    uint a_pitch;
    uint b_pitch;
    uint y_pitch;
    uint addend_pitch;
    uint adds;
    float tiles_down;  // 1 / tiles below each other
    float alpha;
    uint digits[4];
};

#include "lib/uniform_loads.glsl"

float sum[SUMS];

// 0, by a branch of the driver; the compiler cannot know the value.
uint pause(uint place) { return digits[digits[0] * place]; }

// Row and column of the workgroup's tile among the tiles. Multiplies by tiles_down, because vector divisions are slow.
uvec2 tile_of(uint group) {
    const uint down = (m + ROWS - 1) / ROWS, across = uint((float(group) + 0.5) * tiles_down);
    return uvec2(group - across * down, across);
}

void main() {
    const uint lane = gl_SubgroupInvocationID;
    const uvec2 tile = tile_of(known_uniform(group_index(), 18));
    const uint row_begin = tile.x * ROWS, column_begin = tile.y * COLUMNS;
    const uint row0 = min(row_begin, m - ROWS), column0 = min(column_begin, n - COLUMNS);

    // Bias and addend are loaded first, because loads between stores would wait for them.
    const bool with_bias = (adds & BIAS) != 0, with_addend = (adds & ADDEND) != 0;
    In shift = from(bias, column0);
    In more = from(addend, row0 * addend_pitch + column0);
    float shifts[VECTORS];
    [[unroll]] for (uint v = 0; v < VECTORS; ++v) {
        const float loaded = load_lanes(shift, v * SUBGROUP, SUBGROUP);
        shifts[v] = with_bias ? loaded : 0.0;
    }
    float added[SUMS];
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        [[unroll]] for (uint v = 0; v < VECTORS; ++v) {
            const float loaded = load_lanes(more, v * SUBGROUP, SUBGROUP);
            added[r * VECTORS + v] = shifts[v] + (with_addend ? loaded : 0.0);
        }
        more = from(more, addend_pitch);
    }

    const uint step_a = a_pitch, step_b = b_pitch;
    In right_at = from(b, term * step_b + column0);
    In left_at[ROWS];
    left_at[0] = TRANSPOSE_A ? from(a, term * step_a + a_row + row0) : from(a, (a_row + row0) * step_a + term);
    [[unroll]] for (uint r = 1; r < ROWS; ++r) left_at[r] = from(left_at[r - 1], step_a);

    [[unroll]] for (uint i = 0; i < SUMS; ++i) sum[i] = 0.0;
    [[unroll]] for (uint k = 0; k < TERMS; k += STEP) {
        const uint zero = pause(k + 1);
        right_at = from(right_at, zero);
        [[unroll]] for (uint j = 0; j < STEP; ++j) {
            if (k + j < TERMS) {  // a constant
                float right[VECTORS];
                [[unroll]] for (uint v = 0; v < VECTORS; ++v) right[v] = load_lanes(right_at, v * SUBGROUP, SUBGROUP);
                [[unroll]] for (uint r = 0; r < ROWS; ++r) {
                    float left;
                    if (TRANSPOSE_A) left = left_at[0].at[r];
                    else left = left_at[r].at[k + j];
                    [[unroll]] for (uint v = 0; v < VECTORS; ++v) sum[r * VECTORS + v] += left * right[v];
                }
                right_at = from(right_at, step_b);
                if (TRANSPOSE_A) left_at[0] = from(left_at[0], step_a);
            }
        }
    }

    // All push constants are read before the first store: each is a branch.
    const uint width = n, pitch = y_pitch;
    const float factor = alpha;
    Out to = Out(uint64_t(y) + 4 * uint64_t(row0 * pitch + column0));
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        [[unroll]] for (uint v = 0; v < VECTORS; ++v) {
            const float value = factor * sum[r * VECTORS + v] + added[r * VECTORS + v];
            const uint column = column0 + v * SUBGROUP + lane;
            const bool mine = row0 + r >= row_begin && column >= column_begin && column < width;
            if (mine) to.at[r * pitch + v * SUBGROUP + lane] = value;
        }
    }
    if (pause(TERMS + 1) != 0) to.at[lane] = 0.0;
}
