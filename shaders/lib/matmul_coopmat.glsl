// The product of matmul.comp by cooperative matrices: tiles of a and b pass through shared memory as 16-bit numbers.
//
// Shapes, splits: as matmul.comp.
// Owner: a workgroup has a tile of y, and each of its DOWN · ACROSS subgroups a block of ROWS · COLUMNS matrices of it.
//   The next slices of a and b are fetched into registers while the present ones are multiplied.
// Numerics: operands are rounded to ELEMENT, whose largest numbers' neighbour is infinity. Products and sums are fp32,
//   in an order that is the device's own but always the same; elements past an edge count as 0.
#include "lib/matmul.glsl"
#include "lib/matrix.glsl"

// One matrix; its extents are multiples of 8.
layout(constant_id = 7) const uint MATRIX_M = 16;
layout(constant_id = 8) const uint MATRIX_N = 16;
layout(constant_id = 9) const uint MATRIX_K = 16;
layout(constant_id = 10) const uint DOWN = 2;  // subgroups
layout(constant_id = 11) const uint ACROSS = 2;
layout(constant_id = 12) const uint ROWS = 2;  // matrices of a subgroup
layout(constant_id = 13) const uint COLUMNS = 2;
layout(constant_id = 14) const uint STEPS = 2;  // matrices along k

const uint TILE_M = DOWN * ROWS * MATRIX_M;
const uint TILE_N = ACROSS * COLUMNS * MATRIX_N;
const uint SLICE = STEPS * MATRIX_K;
// A slice is kept as it lies in memory: lines of neighbours, in blocks of 8, and a block between lines, so that loads
// of a matrix spread over the banks.
const uint LINE_A = (TRANSPOSE_A ? TILE_M : SLICE) / 8;
const uint LINE_B = (TRANSPOSE_B ? SLICE : TILE_N) / 8;
const uint BLOCKS_A = TILE_M * SLICE / 8;
const uint BLOCKS_B = TILE_N * SLICE / 8;
const uint PITCH_A = LINE_A + 1;
const uint PITCH_B = LINE_B + 1;
const uint FETCH_A = (BLOCKS_A + GROUP - 1) / GROUP;  // blocks per invocation
const uint FETCH_B = (BLOCKS_B + GROUP - 1) / GROUP;
const uint VEC4S = MATRIX_M * MATRIX_N / 4;  // of a matrix of y

shared uvec4 left[BLOCKS_A / LINE_A * PITCH_A];
shared uvec4 right[BLOCKS_B / LINE_B * PITCH_B];
shared vec4 finished[DOWN * ACROSS * VEC4S];  // each subgroup's own

void main() {
    const uint across = (n + TILE_N - 1) / TILE_N;
    const uint tiles = across * ((m + TILE_M - 1) / TILE_M);
    const uint part = group_index() / tiles;
    if (part >= batches * splits) return;  // the whole workgroup
    const uint row0 = group_index() % tiles / across * TILE_M;
    const uint column0 = group_index() % tiles % across * TILE_N;
    const uint batch = part / splits;
    const uint k_begin = part_k_begin(part), k_end = part_k_end(part);
    const uint a_begin = batch * a_batch, b_begin = batch * b_batch;
    const uvec2 a_end = TRANSPOSE_A ? uvec2(k_end, m) : uvec2(m, k_end);
    const uvec2 b_end = TRANSPOSE_B ? uvec2(n, k_end) : uvec2(k_end, n);
    const bool a_aligned = vec4_aligned(uint64_t(a), a_pitch, a_batch);
    const bool b_aligned = vec4_aligned(uint64_t(b), b_pitch, b_batch);
    const bool y_aligned = vec4_aligned(uint64_t(y), y_pitch, y_batch);
    const uint my_row = gl_SubgroupID / ACROSS * ROWS * MATRIX_M;  // in the tile
    const uint my_column = gl_SubgroupID % ACROSS * COLUMNS * MATRIX_N;

    coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator> sum[ROWS * COLUMNS];
    [[unroll]] for (uint i = 0; i < ROWS * COLUMNS; ++i)
        sum[i] = coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>(0.0);
    Block next_left[FETCH_A];
    Block next_right[FETCH_B];
    for (uint k0 = k_begin;; k0 += SLICE) {
        if (k0 < k_end) {
            const uvec2 a_from = TRANSPOSE_A ? uvec2(k0, row0) : uvec2(row0, k0);
            const uvec2 b_from = TRANSPOSE_B ? uvec2(column0, k0) : uvec2(k0, column0);
            [[unroll]] for (uint i = 0; i < FETCH_A; ++i) {
                const uint block = gl_LocalInvocationID.x + i * GROUP;
                next_left[i] = fetch(a, LAYOUT_A, a_begin, a_pitch, block, LINE_A, a_from, a_end, a_aligned);
                if (SCALE_K) {
                    const float factor = k_scale(batch, min(k0 + block / LINE_A, k_end - 1));
                    next_left[i].low *= factor;
                    next_left[i].high *= factor;
                }
            }
            [[unroll]] for (uint i = 0; i < FETCH_B; ++i) {
                const uint block = gl_LocalInvocationID.x + i * GROUP;
                next_right[i] = fetch(b, LAYOUT_B, b_begin, b_pitch, block, LINE_B, b_from, b_end, b_aligned);
            }
        }
        if (k0 > k_begin) {
            // Unrolled or not is the driver's choice: on Mesa's CPU device it would take 5 times as long to compile.
            for (uint step = 0; step < STEPS; ++step) {
                const uint t = step * MATRIX_K;
                coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA> x[ROWS];
                [[unroll]] for (uint i = 0; i < ROWS; ++i) {
                    const uint row = my_row + i * MATRIX_M;
                    if (TRANSPOSE_A)
                        coopMatLoad(x[i], left, t * PITCH_A + row / 8, PITCH_A, gl_CooperativeMatrixLayoutColumnMajor);
                    else
                        coopMatLoad(x[i], left, row * PITCH_A + t / 8, PITCH_A, gl_CooperativeMatrixLayoutRowMajor);
                }
                [[unroll]] for (uint j = 0; j < COLUMNS; ++j) {
                    const uint column = my_column + j * MATRIX_N;
                    coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB> z;
                    if (TRANSPOSE_B)
                        coopMatLoad(z, right, column * PITCH_B + t / 8, PITCH_B, gl_CooperativeMatrixLayoutColumnMajor);
                    else
                        coopMatLoad(z, right, t * PITCH_B + column / 8, PITCH_B, gl_CooperativeMatrixLayoutRowMajor);
                    [[unroll]] for (uint i = 0; i < ROWS; ++i)
                        sum[i * COLUMNS + j] = coopMatMulAdd(x[i], z, sum[i * COLUMNS + j]);
                }
            }
        }
        if (k0 >= k_end) break;
        barrier();  // everyone is done with the previous slices
        [[unroll]] for (uint i = 0; i < FETCH_A; ++i) {
            const uint block = gl_LocalInvocationID.x + i * GROUP;
            if (block < BLOCKS_A) left[block / LINE_A * PITCH_A + block % LINE_A] = packed(next_left[i]);
        }
        [[unroll]] for (uint i = 0; i < FETCH_B; ++i) {
            const uint block = gl_LocalInvocationID.x + i * GROUP;
            if (block < BLOCKS_B) right[block / LINE_B * PITCH_B + block % LINE_B] = packed(next_right[i]);
        }
        barrier();
    }

    // Which invocation holds which element of a matrix is the device's secret: through shared memory, one matrix at a
    // time, to lanes that have four columns of a row.
    const uint mine = gl_SubgroupID * VEC4S;
    [[unroll]] for (uint i = 0; i < ROWS * COLUMNS; ++i) {
        coopMatStore(sum[i], finished, mine, MATRIX_N / 4, gl_CooperativeMatrixLayoutRowMajor);
        shared_barrier();
        for (uint at = gl_SubgroupInvocationID; at < VEC4S; at += SUBGROUP) {
            const uint row = row0 + my_row + i / COLUMNS * MATRIX_M + at / (MATRIX_N / 4);
            const uint column = column0 + my_column + i % COLUMNS * MATRIX_N + at % (MATRIX_N / 4) * 4;
            const uint there = row < m && column < n ? n - column : 0;
            const uint from = batch * addend_batch + row * addend_pitch + column;
            const uint to = part * y_batch + row * y_pitch + column;
            const float factor = y_scale(batch, min(row, m - 1));
            vec4 v = finished[mine + at];
            [[unroll]] for (uint j = 0; j < 4; ++j)
                if (j < there) v[j] = finish(v[j], BIAS ? bias.at[column + j] : 0.0, factor, from + j);
            store_vec4(y, LAYOUT_Y, to, there, v, y_aligned);
        }
        shared_barrier();
    }
}
