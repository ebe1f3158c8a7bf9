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
// Patches of 16 numbers, shared evenly among the invocations: those of a's slice first.
const uint PATCHES_A = TILE_M * SLICE / 16;
const uint PATCHES_B = TILE_N * SLICE / 16;
const uint FETCH = (PATCHES_A + PATCHES_B) / GROUP;
const uint VEC4S = MATRIX_M * MATRIX_N / 4;  // of a matrix of y

const uint RIGHT_SLICE = TILE_M * PITCH;  // where b's begins

#define LEFT coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA>
#define RIGHT coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB>
#define SUM coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>

shared uvec4 slices[(TILE_M + TILE_N) * PITCH];
shared vec4 finished[DOWN * ACROSS * VEC4S];  // each subgroup's own

// 16 numbers of a slice on their way, as they lie in memory: words of a number or, packed, of two. They are two blocks
// of 8 of the k of a line or, of an operand whose k lies across memory, 4 lines of each of 4 k.
struct Patch {
    uvec4 words[4];
    vec4 factors;  // of its 4 k, if terms are scaled
};

uint patch_number(uint i) { return gl_LocalInvocationID.x + i * GROUP; }
// A slice's patches are those of some subgroups or, where each has both, of some i.
bool of_left(uint i) { return (PATCHES_A % GROUP == 0 ? i * GROUP : patch_number(i)) < PATCHES_A; }

// Line and k. Neighbouring invocations have neighbouring k, so that stores of a subgroup spread over the banks.
uvec2 block_place(uint i) { return uvec2(i / LINE, i % LINE * 8); }
uvec2 patch_place(uint i) { return uvec2(i / (SLICE / 4) * 4, i % (SLICE / 4) * 4); }

// Patch i of so many of a slice that begins at `address`, all of which is there and aligned.
Patch fetch_whole(uint64_t address, uint form, bool across, uint pitch, uint i, uint patches) {
    const uint bytes = number_bytes(form);
    Patch got;
    if (across) {
        const uvec2 at = patch_place(i);
        [[unroll]] for (uint j = 0; j < 4; ++j) {
            const uint64_t from = address + (at.y + j) * pitch * bytes + at.x * bytes;
            if (!packed(form)) got.words[j] = InWords4(from).at[0];
            else if (j % 2 == 0) got.words[j / 2].xy = InWords2(from).at[0];
            else got.words[j / 2].zw = InWords2(from).at[0];
        }
    } else {
        [[unroll]] for (uint b = 0; b < 2; ++b) {
            const uvec2 at = block_place(i + b * patches);
            const uint64_t from = address + at.x * pitch * bytes + at.y * bytes;
            if (packed(form)) {
                got.words[b] = InWords4(from).at[0];
            } else {
                got.words[2 * b] = InWords4(from).at[0];
                got.words[2 * b + 1] = InWords4(from).at[1];
            }
        }
    }
    return got;
}

// Likewise word by word, of a slice of x that begins at `from` = (line, k); 0 from `end` on. Widths of packed rows are
// even, so that a word is inside or outside.
Patch fetch_edge(In x, uint form, bool across, uint begin, uint pitch, uint i, uint patches, uvec2 from, uvec2 end) {
    const uint numbers = packed(form) ? 2 : 1;  // of a word
    Patch got;
    [[unroll]] for (uint e = 0; e < 16; e += numbers) {
        const uvec2 at = from + (across ? patch_place(i) + uvec2(e % 4, e / 4)
                                        : block_place(i + e / 8 * patches) + uvec2(0, e % 8));
        const bool there = at.x < end.x && at.y < end.y;
        const uint place = there ? begin + (across ? at.y * pitch + at.x : at.x * pitch + at.y) : 0;
        const uint word = packed(form) ? InWord(x).at[place / 2] : floatBitsToUint(x.at[place]);
        got.words[e / numbers / 4][e / numbers % 4] = there ? word : 0;
    }
    return got;
}

Patch fetch(In x, uint form, bool across, uint begin, uint pitch, uint i, uint patches, uvec2 from, uvec2 end) {
    const uint64_t line = across ? from.y : from.x;  // of memory
    const uint64_t address = uint64_t(x) + (begin + line * pitch + (across ? from.x : from.y)) * number_bytes(form);
    const uint lines = patches * 16 / SLICE;
    if (words_aligned(address, form, pitch, 0) && from.x + lines <= end.x && from.y + SLICE <= end.y)
        return fetch_whole(address, form, across, pitch, i, patches);
    return fetch_edge(x, form, across, begin, pitch, i, patches, from, end);
}

// Of a patch across memory, line c of k j.
float number(Patch of, uint form, uint j, uint c) {
    if (!packed(form)) return uintBitsToFloat(of.words[j][c]);
    const vec2 both = unpack(of.words[j / 2][j % 2 * 2 + c / 2], form);
    return c % 2 == 0 ? both.x : both.y;
}

// Elements j and j + 1 of the k of its line c; j is even.
uint turned(Patch of, uint form, uint j, uint c, bool scaled) {
    if (form == ELEMENT_PAIR && !scaled) {
        const uint low = of.words[j / 2][c / 2], high = of.words[j / 2][2 + c / 2];
        return c % 2 == 0 ? low & 0xffff | high << 16 : low >> 16 | high & 0xffff0000;
    }
    vec2 pair = vec2(number(of, form, j, c), number(of, form, j + 1, c));
    if (scaled) pair *= vec2(of.factors[j], of.factors[j + 1]);
    return pack(pair);
}

// Patch i to shared memory, where its slice begins at `begin`.
void store(uint begin, uint form, bool across, uint i, uint patches, Patch of, bool scaled) {
    if (across) {
        const uvec2 at = patch_place(i);
        [[unroll]] for (uint c = 0; c < 4; ++c) {
            const uint to = begin + (at.x + c) * PITCH + at.y / 8, word = at.y / 2 % 4;
            slices[to][word] = turned(of, form, 0, c, scaled);
            slices[to][word + 1] = turned(of, form, 2, c, scaled);
        }
    } else {
        [[unroll]] for (uint b = 0; b < 2; ++b) {
            const uvec2 at = block_place(i + b * patches);
            slices[begin + at.x * PITCH + at.y / 8] =
                packed(form) ? elements(of.words[b], form)
                             : elements(uintBitsToFloat(of.words[2 * b]), uintBitsToFloat(of.words[2 * b + 1]));
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
    const bool y_aligned = vec4_aligned(uint64_t(y), y_pitch, y_batch);
    const uint my_row = gl_SubgroupID / ACROSS * ROWS * MATRIX_M;  // in the tile
    const uint my_column = gl_SubgroupID % ACROSS * COLUMNS * MATRIX_N;

    // Sums begin as products of zeros, not as constants: a product has registers that multiplications take, where NVK
    // gives constants any, and would move sums to and fro in the loop.
    if (gl_LocalInvocationID.x < 2) slices[gl_LocalInvocationID.x] = uvec4(0);
    barrier();
    SUM sum[ROWS * COLUMNS];
    SUM zero = SUM(0.0);
    LEFT left_zeros;
    RIGHT right_zeros;
    coopMatLoad(left_zeros, slices, 0, 0, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(right_zeros, slices, 0, 0, gl_CooperativeMatrixLayoutColumnMajor);
    [[unroll]] for (uint i = 0; i < ROWS * COLUMNS; ++i) {
        zero = coopMatMulAdd(left_zeros, right_zeros, zero);
        sum[i] = zero;
    }
    for (uint k0 = k_begin;; k0 += SLICE) {
        Patch next[FETCH];
        if (k0 < k_end) {
            [[unroll]] for (uint i = 0; i < FETCH; ++i) {
                const uint at = patch_number(i);
                if (of_left(i)) {
                    next[i] = fetch(a, LAYOUT_A, TRANSPOSE_A, a_begin, a_pitch, at, PATCHES_A, uvec2(row0, k0),
                                    uvec2(m, k_end));
                    if (SCALE_K)
                        [[unroll]] for (uint j = 0; j < 4; ++j)
                            next[i].factors[j] = k_scale(batch, min(k0 + patch_place(at).y + j, k_end - 1));
                } else {
                    next[i] = fetch(b, LAYOUT_B, !TRANSPOSE_B, b_begin, b_pitch, at - PATCHES_A, PATCHES_B,
                                    uvec2(column0, k0), uvec2(n, k_end));
                }
            }
        }
        if (k0 > k_begin) {
            // Unrolled or not is the driver's choice: on Mesa's CPU device it would take 5 times as long to compile.
            for (uint step = 0; step < STEPS; ++step) {
                const uint t = step * MATRIX_K;
                RIGHT z[COLUMNS];
                [[unroll]] for (uint j = 0; j < COLUMNS; ++j) {
                    const uint column = my_column + j * MATRIX_N;
                    coopMatLoad(z[j], slices, RIGHT_SLICE + column * PITCH + t / 8, PITCH,
                                gl_CooperativeMatrixLayoutColumnMajor);
                }
                [[unroll]] for (uint i = 0; i < ROWS; ++i) {
                    const uint row = my_row + i * MATRIX_M;
                    LEFT x;
                    coopMatLoad(x, slices, row * PITCH + t / 8, PITCH, gl_CooperativeMatrixLayoutRowMajor);
                    [[unroll]] for (uint j = 0; j < COLUMNS; ++j)
                        sum[i * COLUMNS + j] = coopMatMulAdd(x, z[j], sum[i * COLUMNS + j]);
                }
            }
        }
        if (k0 >= k_end) break;
        barrier();  // everyone is done with the previous slices
        [[unroll]] for (uint i = 0; i < FETCH; ++i) {
            const uint at = patch_number(i);
            if (of_left(i))
                store(0, LAYOUT_A, TRANSPOSE_A, at, PATCHES_A, next[i], SCALE_K);
            else
                store(RIGHT_SLICE, LAYOUT_B, !TRANSPOSE_B, at - PATCHES_A, PATCHES_B, next[i], false);
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
