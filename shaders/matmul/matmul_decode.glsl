// Computes a stripe of columns of a product of few rows, for the kernels of decoding; reading b limits the speed.
//
// Owner: a workgroup has STRIPE columns. If b is not transposed, the lanes are along the columns and iterate over k,
//   and a's elements are broadcast. If b is transposed, the lanes are along k and add up each column's sum at the end;
//   on a CPU each lane has its own columns, which are rows of b.
// Memory: each lane has RUN neighbouring elements of b, and the next lane the following RUN. RUN is 2 on a GPU, where a
//   subgroup's loads share cache lines. It is a whole cache line on a CPU, where lanes load one after the other: the
//   first pairs of all lanes fetch different lines concurrently, and the other pairs find them in the cache.
//   With rows of its own a lane reads four such lines concurrently, of four rows or several of each of fewer rows,
//   because a processor looks only a few gathers ahead.
// Numerics: fp32; sums in ascending k, or per lane in ascending k and then over the lanes; by lines, even and odd k are
//   summed separately, LINES lines at a time: the order depends on STRIPE.
//
// The kernel has the constants TRANSPOSE_B, LAYOUT_A and LAYOUT_B, the arguments a and a_pitch, and store().
#include "lib/group.glsl"
#include "matmul/matmul_vec2.glsl"

layout(constant_id = 7) const uint ROWS = 1;
layout(constant_id = 8) const uint STRIPE = 64;  // if b is not transposed, whole runs of all lanes
layout(constant_id = 9) const uint RUN = 2;      // even

const uint LANES = SUBGROUP;
const bool BY_LINES = RUN > 2 && RUN >= LANES;
const uint PAIRS = TRANSPOSE_B ? 1 : STRIPE / (LANES * 2);  // per lane, if b is not transposed
// Rows of b that are read concurrently, first pairs first, so that more cache lines are fetched at once.
const uint COLUMNS = 8;                    // b transposed, on a GPU
const uint OWN = STRIPE / LANES;           // b transposed, by lines: rows per lane
const uint LINES = OWN < 4 ? 4 / OWN : 1;  // b transposed, by lines: cache lines per row
const uint DEPTH = LANES < 8 ? LANES : 8;  // b not transposed
// By lines: sums per lane, and elements of a per lane.
const uint SUMS = ROWS * OWN;
const uint WORDS = BY_LINES ? ROWS * LINES * RUN / LANES : 1;

// Columns from column0 on, summed over k in [k_begin, k_end).
struct Stripe {
    uint part;  // for store()
    uint a_begin;
    In b;
    uint b_begin;
    uint b_pitch;
    uint n;
    uint column0;
    uint k_begin;
    uint k_end;
};

void store(uint part, uint row, uint column, float sum);

// First column of a lane's pair, counted from the stripe's first.
uint column_of(uint pair) {
    return (pair / (RUN / 2) * LANES + gl_SubgroupInvocationID) * RUN + pair % (RUN / 2) * 2;
}

void down(Stripe of) {
    const uint lane = gl_SubgroupInvocationID;
    vec2 sum[ROWS * PAIRS];
    [[unroll]] for (uint i = 0; i < ROWS * PAIRS; ++i) sum[i] = vec2(0.0);
    uint first[PAIRS];
    uint second[PAIRS];
    [[unroll]] for (uint p = 0; p < PAIRS; ++p) {
        const uint column = of.column0 + column_of(p);
        first[p] = of.b_begin + min(column, LAYOUT_B != SCALAR ? of.n - 2 : of.n - 1);
        second[p] = of.b_begin + min(column + 1, of.n - 1);
    }
    uint k0 = of.k_begin;
    for (; k0 + LANES <= of.k_end; k0 += LANES) {
        float left[ROWS];
        [[unroll]] for (uint r = 0; r < ROWS; ++r)
            left[r] = load_one(a, of.a_begin + r * a_pitch + k0 + lane, LAYOUT_A);
        [[unroll]] for (uint s0 = 0; s0 < LANES; s0 += DEPTH) {
            [[unroll]] for (uint p = 0; p < PAIRS; ++p) {
                [[unroll]] for (uint i = 0; i < DEPTH; ++i) {
                    const uint s = s0 + i;
                    const uint at = (k0 + s) * of.b_pitch;
                    const vec2 right = load_vec2(LAYOUT_B, of.b, at + first[p], at + second[p]);
                    [[unroll]] for (uint r = 0; r < ROWS; ++r)
                        sum[r * PAIRS + p] += subgroupBroadcast(left[r], s) * right;
                }
            }
        }
    }
    for (; k0 < of.k_end; ++k0) {
        [[unroll]] for (uint p = 0; p < PAIRS; ++p) {
            const uint at = k0 * of.b_pitch;
            const vec2 right = load_vec2(LAYOUT_B, of.b, at + first[p], at + second[p]);
            [[unroll]] for (uint r = 0; r < ROWS; ++r)
                sum[r * PAIRS + p] += load_one(a, of.a_begin + r * a_pitch + k0, LAYOUT_A) * right;
        }
    }
    [[unroll]] for (uint p = 0; p < PAIRS; ++p) {
        const uint column = of.column0 + column_of(p);
        [[unroll]] for (uint r = 0; r < ROWS; ++r) {
            if (column < of.n) store(of.part, r, column, sum[r * PAIRS + p].x);
            if (column + 1 < of.n) store(of.part, r, column + 1, sum[r * PAIRS + p].y);
        }
    }
}

// Adds the products of `lines` adjacent cache lines from k on, of each of a lane's rows of b: first pairs of all lines,
// then second ones, so that the lines are fetched concurrently.
void take_lines(Stripe of, uint row[OWN], uint k, const uint lines, inout vec2 sum[SUMS]) {
    float left[WORDS];
    [[unroll]] for (uint i = 0; i < lines * RUN / LANES; ++i)
        [[unroll]] for (uint r = 0; r < ROWS; ++r)
            left[i * ROWS + r] =
                load_one(a, of.a_begin + r * a_pitch + k + i * LANES + gl_SubgroupInvocationID, LAYOUT_A);
    [[unroll]] for (uint s = 0; s < RUN; s += 2) {
        [[unroll]] for (uint i = 0; i < OWN * lines; ++i) {
            const uint c = i / lines, at = i % lines * RUN + s, from = at / LANES * ROWS, lane = at % LANES;
            const vec2 right = load_vec2(LAYOUT_B, of.b, row[c] + k + at, row[c] + k + at + 1);
            [[unroll]] for (uint r = 0; r < ROWS; ++r)
                sum[r * OWN + c] +=
                    vec2(subgroupBroadcast(left[from + r], lane), subgroupBroadcast(left[from + r], lane + 1)) * right;
        }
    }
}

// Computes a stripe with OWN rows of b per lane, several cache lines at a time.
void by_lines(Stripe of) {
    const uint lane = gl_SubgroupInvocationID;
    uint row[OWN];
    vec2 sum[SUMS];
    [[unroll]] for (uint c = 0; c < OWN; ++c)
        row[c] = of.b_begin + min(of.column0 + c * LANES + lane, of.n - 1) * of.b_pitch;
    [[unroll]] for (uint i = 0; i < SUMS; ++i) sum[i] = vec2(0.0);
    uint k = of.k_begin;
    for (; k + LINES * RUN <= of.k_end; k += LINES * RUN) take_lines(of, row, k, LINES, sum);
    for (; k + RUN <= of.k_end; k += RUN) take_lines(of, row, k, 1, sum);
    for (; k < of.k_end; ++k) {
        [[unroll]] for (uint c = 0; c < OWN; ++c) {
            const float right = load_one(of.b, row[c] + k, LAYOUT_B);
            [[unroll]] for (uint r = 0; r < ROWS; ++r)
                sum[r * OWN + c].x += load_one(a, of.a_begin + r * a_pitch + k, LAYOUT_A) * right;
        }
    }
    [[unroll]] for (uint c = 0; c < OWN; ++c) {
        const uint column = of.column0 + c * LANES + lane;
        [[unroll]] for (uint r = 0; r < ROWS; ++r)
            if (column < of.n) store(of.part, r, column, sum[r * OWN + c].x + sum[r * OWN + c].y);
    }
}

void along(Stripe of) {
    const uint lane = gl_SubgroupInvocationID;
    const uint end = min(of.column0 + STRIPE, of.n);
    for (uint column = of.column0; column < end; column += COLUMNS) {
        uint row[COLUMNS];
        [[unroll]] for (uint c = 0; c < COLUMNS; ++c)
            row[c] = of.b_begin + min(column + c, of.n - 1) * of.b_pitch;
        vec2 sum[ROWS * COLUMNS];
        [[unroll]] for (uint i = 0; i < ROWS * COLUMNS; ++i) sum[i] = vec2(0.0);
        uint k0 = of.k_begin + 2 * lane;
        for (; k0 + 1 < of.k_end; k0 += 2 * LANES) {
            vec2 left[ROWS];
            [[unroll]] for (uint r = 0; r < ROWS; ++r) {
                const uint at = of.a_begin + r * a_pitch + k0;
                left[r] = load_vec2(LAYOUT_A, a, at, at + 1);
            }
            [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
                const vec2 right = load_vec2(LAYOUT_B, of.b, row[c] + k0, row[c] + k0 + 1);
                [[unroll]] for (uint r = 0; r < ROWS; ++r)
                    sum[r * COLUMNS + c] += left[r] * right;
            }
        }
        if (k0 < of.k_end) {  // one lane, if k is odd
            [[unroll]] for (uint c = 0; c < COLUMNS; ++c)
                [[unroll]] for (uint r = 0; r < ROWS; ++r)
                    sum[r * COLUMNS + c].x +=
                        load_one(a, of.a_begin + r * a_pitch + k0, LAYOUT_A) * load_one(of.b, row[c] + k0, LAYOUT_B);
        }
        [[unroll]] for (uint r = 0; r < ROWS; ++r) {
            [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
                const float total = group_sum(sum[r * COLUMNS + c].x + sum[r * COLUMNS + c].y);
                if (lane == 0 && column + c < end) store(of.part, r, column + c, total);
            }
        }
    }
}

void compute(Stripe of) {
    if (TRANSPOSE_B && BY_LINES)
        by_lines(of);
    else if (TRANSPOSE_B)
        along(of);
    else
        down(of);
}
