// A stripe of columns of a product of few rows with all of its loads unrolled, for CPU devices that make vectors of
// them (lib/uniform_loads.glsl). What it computes: lib/matmul_decode.glsl.
//
// Owner: a workgroup, one subgroup, has STRIPE columns and TERMS of the sum. b transposed: lanes along k, each column's
//   sum is folded at the end and given to a lane of its own. b as it is: lanes along the columns, a's elements one by
//   one. The last stripe begins early enough to be whole; what lies in the one before is computed and not stored.
// Numerics: fp32; sums in ascending k, or per lane in ascending k and then over the lanes.
//
// The kernel has the constant TRANSPOSE_B, the arguments a and a_pitch, and store().
#include "lib/group.glsl"
#include "lib/uniform_loads.glsl"

layout(constant_id = 7) const uint ROWS = 1;
layout(constant_id = 8) const uint STRIPE = 8;  // b transposed: at most SUBGROUP, else a multiple
layout(constant_id = 9) const uint TERMS = 16;

const uint VECTORS = TRANSPOSE_B ? STRIPE : STRIPE / SUBGROUP;
const uint SUMS = ROWS * VECTORS;

// Columns from column0 on, of n, n >= STRIPE; terms from k0 on. All known to be uniform.
struct Stripe {
    In b;
    uint b_pitch;
    uint n;
    uint column0;
    uint k0;
};

void store(uint row, uint column, float sum);

// b transposed: adds up `count` terms from k on, one to a lane.
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
