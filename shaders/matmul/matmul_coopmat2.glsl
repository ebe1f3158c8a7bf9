// matmul.comp with matrices of a whole workgroup: the driver stages and pipelines the slices.
//
// Shapes, splits: as matmul.comp.
// Owner: a workgroup has a tile of y as one accumulator, whose elements the driver distributes.
// Numerics: as matmul_coopmat.glsl; operands of 32 bits are rounded to ELEMENT while they are loaded; operands and y of
//   16 bits are of type ELEMENT. aux is fp32 or of any 16-bit type.
// Why: slices inside a and b are not clamped, and UNROLLED slices are one body of a loop, so that the driver has few
// comparisons and many loads to order. Tiles at an edge, and the last slices, are clamped, one slice per iteration.
// Factors of a sum's terms (SCALE_K) are left to other kernels: here no invocation sees the operands while they are
// loaded.
#include "matmul/matmul.glsl"

layout(constant_id = 7) const uint TILE_M = 128;
layout(constant_id = 8) const uint TILE_N = 128;
layout(constant_id = 9) const uint SLICE = 64;
// Lines of 16-bit elements start at multiples of 16 bytes.
layout(constant_id = 10) const bool ALIGNED_A = false;
layout(constant_id = 11) const bool ALIGNED_B = false;
layout(constant_id = 12) const bool ALIGNED_Y = false;
layout(constant_id = 13) const uint UNROLLED = 4;

const uint LARGEST_SLICE = SLICE * (TILE_M > TILE_N ? TILE_M : TILE_N);
const uint STAGED = LARGEST_SLICE > TILE_M * TILE_N ? LARGEST_SLICE : TILE_M * TILE_N;
#include "lib/coopmat2.glsl"

ROUNDING ROUNDED_SUM(TILE_M, TILE_N) rounded_sum(SUM(TILE_M, TILE_N) x);

// Element of y from element (row, column) of the tile; `at` is the tile's batch, first row and first column.
float finish_element(const in uint row, const in uint column, const in float sum, const in uvec3 at) {
    const uint i = at.y + row, j = at.z + column;
    if (i >= m || j >= n) return 0.0;  // not stored
    const float shift = BIAS ? bias.at[j] : 0.0;
    return finish(sum, shift, y_scale(at.x, i), load_aux(at.x * aux_batch + i * aux_pitch + j));
}

// Adds the products of the slice of k that begins at `t`.
#define MULTIPLY(t, lines, columns)                                                                                   \
    {                                                                                                                 \
        LEFT(TILE_M, SLICE) left;                                                                                     \
        RIGHT(SLICE, TILE_N) right;                                                                                   \
        if (TRANSPOSE_A)                                                                                              \
            columns(left, a, LAYOUT_A, ALIGNED_A, a_begin, a_pitch, uvec2(k_end, m), uvec2(t, row0),                  \
                    uvec2(SLICE, TILE_M))                                                                             \
        else                                                                                                          \
            lines(left, a, LAYOUT_A, ALIGNED_A, a_begin, a_pitch, uvec2(m, k_end), uvec2(row0, t),                    \
                  uvec2(TILE_M, SLICE))                                                                               \
        if (TRANSPOSE_B)                                                                                              \
            columns(right, b, LAYOUT_B, ALIGNED_B, b_begin, b_pitch, uvec2(n, k_end), uvec2(column0, t),              \
                    uvec2(TILE_N, SLICE))                                                                             \
        else                                                                                                          \
            lines(right, b, LAYOUT_B, ALIGNED_B, b_begin, b_pitch, uvec2(k_end, n), uvec2(t, column0),                \
                  uvec2(SLICE, TILE_N))                                                                               \
        sum = coopMatMulAdd(left, right, sum);                                                                        \
    }

void main() {
    const uint across = (n + TILE_N - 1) / TILE_N;
    const uint tiles = across * ((m + TILE_M - 1) / TILE_M);
    const uint part = group_index() / tiles;
    if (part >= batches * splits) return;  // the whole workgroup
    const uint row0 = group_index() % tiles / across * TILE_M;
    const uint column0 = group_index() % tiles % across * TILE_N;
    const uint batch = part / splits;
    // Splits begin at slices. The driver must know it: NVIDIA's loads numbers one by one otherwise, which takes six
    // times as long as words of eight (docs/lab/nvidia-h200.md).
    const uint k_begin = part_k_begin(part) & ~7u, k_end = part_k_end(part);
    const uint a_begin = batch * a_batch, b_begin = batch * b_batch, y_begin = part * y_batch;

    SUM(TILE_M, TILE_N) sum = SUM(TILE_M, TILE_N)(0.0);
    uint k0 = k_begin;
    if (row0 + TILE_M <= m && column0 + TILE_N <= n)
        for (; k0 + UNROLLED * SLICE <= k_end; k0 += UNROLLED * SLICE)
            [[unroll]] for (uint i = 0; i < UNROLLED; ++i)
                MULTIPLY(k0 + i * SLICE, LOAD_LINES_INSIDE, LOAD_COLUMNS_INSIDE)
    for (; k0 < k_end; k0 += SLICE) MULTIPLY(k0, LOAD_LINES, LOAD_COLUMNS)
    coopMatPerElementNV(sum, sum, finish_element, uvec3(batch, row0, column0));
    STORE_LINES(sum, y, LAYOUT_Y, ALIGNED_Y, y_begin, y_pitch, uvec2(m, n), uvec2(row0, column0),
                uvec2(TILE_M, TILE_N));
}
