// Computes a stripe of columns of a product of few rows, as matmul/matmul_decode.glsl does, with all loads unrolled,
// for CPU devices that combine them to vectors (lib/uniform_loads.glsl).
//
// Owner: a workgroup of one subgroup has STRIPE columns and TERMS terms of the sum. If b is transposed, the lanes are
//   along k, and each column's sum is added up at the end and given to one lane. If b is not transposed, the lanes are
//   along the columns, and a's elements are loaded one by one. The last stripe begins early enough to be whole; its
//   overlap with the stripe before is computed but not stored.
// Numerics: fp32; sums in ascending k, or per lane in ascending k and then over the lanes.
//
// The kernel has the constant TRANSPOSE_B, the arguments a and a_pitch, and store().
#include "lib/group.glsl"
#include "lib/uniform_loads.glsl"

layout(constant_id = 7) const uint ROWS = 1;
layout(constant_id = 8) const uint STRIPE = 8;  // at most SUBGROUP if b is transposed, else a multiple
layout(constant_id = 9) const uint TERMS = 16;

const uint VECTORS = TRANSPOSE_B ? STRIPE : STRIPE / SUBGROUP;
const uint SUMS = ROWS * VECTORS;

// Columns from column0 on, of n >= STRIPE; terms from k0 on. All are known to be uniform.
struct Stripe {
    In b;
    uint b_pitch;
    uint n;
    uint column0;
    uint k0;
};

void store(uint row, uint column, float sum);

// Adds `count` terms from k on, one per lane, for a transposed b.
void take(Stripe of, uint column0, const uint k, const uint count, inout float sum[SUMS]) {
    float left[ROWS];
    [[unroll]] for (uint r = 0; r < ROWS; ++r) left[r] = load_lanes(from(a, r * a_pitch + of.k0), k, count);
    [[unroll]] for (uint c = 0; c < STRIPE; ++c) {
        const float right = load_lanes(from(of.b, (column0 + c) * of.b_pitch + of.k0), k, count);
        [[unroll]] for (uint r = 0; r < ROWS; ++r) sum[r * VECTORS + c] += left[r] * right;
    }
}

void along(Stripe of, uint column0) {
    const uint lane = gl_SubgroupInvocationID, whole = TERMS / SUBGROUP * SUBGROUP, column = column0 + lane;
    float sum[SUMS];
    [[unroll]] for (uint i = 0; i < SUMS; ++i) sum[i] = 0.0;
    [[unroll]] for (uint k = 0; k < whole; k += SUBGROUP) take(of, column0, k, SUBGROUP, sum);
    if (whole < TERMS) take(of, column0, whole, TERMS - whole, sum);
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        float total = 0.0;
        [[unroll]] for (uint c = 0; c < STRIPE; ++c) {
            const float folded = group_sum(sum[r * VECTORS + c]);
            total = lane == c ? folded : total;
        }
        if (lane < STRIPE && column >= of.column0 && column < of.n) store(r, column, total);
    }
}

void down(Stripe of, uint column0) {
    float sum[SUMS];
    [[unroll]] for (uint i = 0; i < SUMS; ++i) sum[i] = 0.0;
    [[unroll]] for (uint k = 0; k < TERMS; ++k) {
        In row = from(of.b, (of.k0 + k) * of.b_pitch + column0);
        float left[ROWS];
        [[unroll]] for (uint r = 0; r < ROWS; ++r) left[r] = from(a, r * a_pitch + of.k0).at[k];
        [[unroll]] for (uint v = 0; v < VECTORS; ++v) {
            const float right = load_lanes(row, v * SUBGROUP, SUBGROUP);
            [[unroll]] for (uint r = 0; r < ROWS; ++r) sum[r * VECTORS + v] += left[r] * right;
        }
    }
    [[unroll]] for (uint v = 0; v < VECTORS; ++v) {
        const uint column = column0 + v * SUBGROUP + gl_SubgroupInvocationID;
        [[unroll]] for (uint r = 0; r < ROWS; ++r)
            if (column >= of.column0 && column < of.n) store(r, column, sum[r * VECTORS + v]);
    }
}

void compute(Stripe of) {
    const uint column0 = min(of.column0, of.n - STRIPE);
    if (TRANSPOSE_B)
        along(of, column0);
    else
        down(of, column0);
}
