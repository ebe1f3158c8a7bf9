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
// In shared memory k runs along lines of both slices, whichever way the operands lie: then an invocation loads what it
// has of a matrix by 64 or 128 bits. A line has a block of 8 more, so that loads spread over the banks.
const uint LINE = SLICE / 8;
const uint PITCH = LINE + 1;
const uint PATCHES_A = TILE_M * SLICE / 16;  // of 16 numbers
const uint PATCHES_B = TILE_N * SLICE / 16;
const uint FETCH_A = (PATCHES_A + GROUP - 1) / GROUP;  // patches per invocation
const uint FETCH_B = (PATCHES_B + GROUP - 1) / GROUP;
const uint VEC4S = MATRIX_M * MATRIX_N / 4;  // of a matrix of y

const uint RIGHT = TILE_M * PITCH;  // where b's begins

shared uvec4 slices[(TILE_M + TILE_N) * PITCH];
shared vec4 finished[DOWN * ACROSS * VEC4S];  // each subgroup's own

// 16 numbers of a slice on their way: two blocks of 8 of the k of a line or, of an operand whose k lies across memory,
// 4 numbers of each of 4 k.
struct Patch {
    vec4 part[4];
};

// Neighbouring invocations have neighbouring k, so that stores of a subgroup spread over the banks.
uint block_place(uint block) { return block / LINE * PITCH + block % LINE; }
uint patch_k(uint i) { return i % (SLICE / 4) * 4; }
uint patch_line(uint i) { return i / (SLICE / 4) * 4; }

// Of x, whose line and place in the line at which the slice begins is `from`.
Patch fetch_along(In x, uint form, uint begin, uint pitch, uint first, uvec2 from, uvec2 end, bool aligned) {
    const Block a = fetch(x, form, begin, pitch, first, LINE, from, end, aligned);
    const Block b = fetch(x, form, begin, pitch, first + GROUP, LINE, from, end, aligned);
    return Patch(vec4[4](a.low, a.high, b.low, b.high));
}

Patch fetch_across(In x, uint form, uint begin, uint pitch, uint i, uvec2 from, uvec2 end, bool aligned) {
    const uvec2 at = from + uvec2(patch_k(i), patch_line(i));
    Patch got;
    [[unroll]] for (uint j = 0; j < 4; ++j) {
        const uint there = at.x + j < end.x && at.y < end.y ? end.y - at.y : 0;
        got.part[j] = load_vec4(x, form, begin + (at.x + j) * pitch + at.y, there, aligned);
    }
    return got;
}

// Number i of each of its 4 k.
uvec2 turned(Patch of, uint i) {
    return uvec2(pack(vec2(of.part[0][i], of.part[1][i])), pack(vec2(of.part[2][i], of.part[3][i])));
}

// A patch of a slice of so many to shared memory, from `begin` on.
void store(uint begin, bool across, uint patches, uint i, Patch of) {
    const uint at = gl_LocalInvocationID.x + (across ? i : 2 * i) * GROUP;
    if (!across) {
        if (at < 2 * patches) slices[begin + block_place(at)] = packed(Block(of.part[0], of.part[1]));
        if (at + GROUP < 2 * patches) slices[begin + block_place(at + GROUP)] = packed(Block(of.part[2], of.part[3]));
    } else if (at < patches) {
        const uint to = begin + patch_line(at) * PITCH + patch_k(at) / 8, word = patch_k(at) / 2 % 4;
        [[unroll]] for (uint j = 0; j < 4; ++j) {
            const uvec2 four = turned(of, j);
            slices[to + j * PITCH][word] = four.x;
            slices[to + j * PITCH][word + 1] = four.y;
        }
    }
}

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
    for (uint k0 = k_begin;; k0 += SLICE) {
        Patch next_left[FETCH_A];
        Patch next_right[FETCH_B];
        if (k0 < k_end) {
            [[unroll]] for (uint i = 0; i < FETCH_A; ++i) {
                const uint at = gl_LocalInvocationID.x + i * GROUP;
                if (TRANSPOSE_A) {
                    next_left[i] = fetch_across(a, LAYOUT_A, a_begin, a_pitch, at, uvec2(k0, row0), a_end, a_aligned);
                    if (SCALE_K)
                        [[unroll]] for (uint j = 0; j < 4; ++j)
                            next_left[i].part[j] *= k_scale(batch, min(k0 + patch_k(at) + j, k_end - 1));
                } else {
                    next_left[i] =
                        fetch_along(a, LAYOUT_A, a_begin, a_pitch, at + i * GROUP, uvec2(row0, k0), a_end, a_aligned);
                }
            }
            [[unroll]] for (uint i = 0; i < FETCH_B; ++i) {
                const uint at = gl_LocalInvocationID.x + i * GROUP;
                if (TRANSPOSE_B)
                    next_right[i] = fetch_along(b, LAYOUT_B, b_begin, b_pitch, at + i * GROUP, uvec2(column0, k0),
                                                b_end, b_aligned);
                else
                    next_right[i] =
                        fetch_across(b, LAYOUT_B, b_begin, b_pitch, at, uvec2(k0, column0), b_end, b_aligned);
            }
        }
        if (k0 > k_begin) {
            // Unrolled or not is the driver's choice: on Mesa's CPU device it would take 5 times as long to compile.
            for (uint step = 0; step < STEPS; ++step) {
                const uint t = step * MATRIX_K;
                coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA> x[ROWS];
                [[unroll]] for (uint i = 0; i < ROWS; ++i) {
                    const uint row = my_row + i * MATRIX_M;
                    coopMatLoad(x[i], slices, row * PITCH + t / 8, PITCH, gl_CooperativeMatrixLayoutRowMajor);
                }
                coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB> z[COLUMNS];
                [[unroll]] for (uint j = 0; j < COLUMNS; ++j) {
                    const uint column = my_column + j * MATRIX_N;
                    coopMatLoad(z[j], slices, RIGHT + column * PITCH + t / 8, PITCH,
                                gl_CooperativeMatrixLayoutColumnMajor);
                }
                [[unroll]] for (uint i = 0; i < ROWS; ++i)
                    [[unroll]] for (uint j = 0; j < COLUMNS; ++j)
                        sum[i * COLUMNS + j] = coopMatMulAdd(x[i], z[j], sum[i * COLUMNS + j]);
            }
        }
        if (k0 >= k_end) break;
        barrier();  // everyone is done with the previous slices
        [[unroll]] for (uint i = 0; i < FETCH_A; ++i) store(0, TRANSPOSE_A, PATCHES_A, i, next_left[i]);
        [[unroll]] for (uint i = 0; i < FETCH_B; ++i) store(RIGHT, !TRANSPOSE_B, PATCHES_B, i, next_right[i]);
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
