// matmul.comp with cooperative matrices: tiles of a and b pass through shared memory as 16-bit numbers.
//
// Shapes, splits: as matmul.comp, but k is at least SLICE.
// Owner: a workgroup has a tile of y, and each of its DOWN · ACROSS subgroups a block of ROWS · COLUMNS matrices of the
//   tile. Shared memory has room for two slices of a and b: while one is multiplied, the next is fetched into
//   registers, in PARTS to need few registers, and stored as the other slice.
// Numerics: operands are rounded to ELEMENT and overflow to infinity. Products and sums are fp32, in an order that the
//   device chooses but never varies; terms past the end of k count as 0.
//
// Why: there is no branch between the loads of a slice and the multiplications, because compilers wait for loads where
// branches meet. Therefore lines past the edge repeat the last ones, whose products are never stored, and the rest of k
// after the last whole slice is fetched separately, word by word, after the multiplications.
#include "matmul/matmul.glsl"
#include "lib/matrix.glsl"

// One matrix; its extents are multiples of 8.
layout(constant_id = 7) const uint MATRIX_M = 16;
layout(constant_id = 8) const uint MATRIX_N = 16;
layout(constant_id = 9) const uint MATRIX_K = 16;
layout(constant_id = 10) const uint DOWN = 2;  // subgroups
layout(constant_id = 11) const uint ACROSS = 2;
layout(constant_id = 12) const uint ROWS = 2;  // matrices per subgroup
layout(constant_id = 13) const uint COLUMNS = 2;
layout(constant_id = 14) const uint STEPS = 2;  // matrices along k
layout(constant_id = 15) const uint PARTS = 1;  // divides STEPS and FETCH
// Rows in memory start at multiples of 16 bytes.
layout(constant_id = 16) const bool ALIGNED_A = false;
layout(constant_id = 17) const bool ALIGNED_B = false;
layout(constant_id = 18) const bool ALIGNED_Y = false;

const uint TILE_M = DOWN * ROWS * MATRIX_M;
const uint TILE_N = ACROSS * COLUMNS * MATRIX_N;
const uint SLICE = STEPS * MATRIX_K;
// In shared memory k runs along the lines of both slices, for any layout of the operands, so that an invocation loads
// its elements of a matrix by 64 or 128 bits. A line is padded by a block of 8, so that loads spread over the banks.
const uint LINE = SLICE / 8;
const uint PITCH = LINE + 1;
// Patches of 16 numbers, distributed evenly over the invocations, those of a's slice first.
const uint PATCHES_A = TILE_M * SLICE / 16;
const uint PATCHES_B = TILE_N * SLICE / 16;
const uint FETCH = (PATCHES_A + PATCHES_B) / GROUP;
const uint VEC4S = MATRIX_M * MATRIX_N / 4;  // per matrix of y

const uint RIGHT_SLICE = TILE_M * PITCH;       // first word of b's slice
const uint BOTH = (TILE_M + TILE_N) * PITCH;   // words of a slice of a and b
const uint FINISHED = DOWN * ACROSS * VEC4S;   // words of a matrix per subgroup

#define LEFT coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA>
#define RIGHT coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB>
#define SUM coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>

shared uvec4 slices[2 * BOTH > FINISHED ? 2 * BOTH : FINISHED];  // at the end one finished matrix per subgroup

SUM sum[ROWS * COLUMNS];
uvec2 my_block;  // place of the subgroup's block in the tile

// Operand as a list of lines of k: numbers are contiguous along the lines or, `across`, from line to line.
struct Operand {
    In x;
    uint begin, pitch;
    uint line0, lines;  // first line of the tile, and number of lines of the matrix
};
Operand of_a, of_b;

// 16 numbers of a slice, in registers in their format in memory: words of one number or, packed, of two. A patch is two
// blocks of 8 k of a line or, for operands with k `across`, 4 lines of each of 4 k.
struct Patch {
    uvec4 words[4];
    vec4 factors;  // factors of the 4 k, if terms are scaled
};

// Patch `mine + more` of the `patches` of an operand's slice; `more` is a constant multiple of the patches per line.
struct Which {
    uint mine, more, patches;
};

// The patches of an operand belong to some of the subgroups or, if each invocation has patches of both, to some i.
const bool EACH_HAS_BOTH = PATCHES_A % GROUP == 0;
bool of_left(uint i) { return EACH_HAS_BOTH ? i * GROUP < PATCHES_A : gl_LocalInvocationID.x < PATCHES_A; }

Which left_patch(uint i) { return Which(gl_LocalInvocationID.x, i * GROUP, PATCHES_A); }
Which right_patch(uint i) {
    if (EACH_HAS_BOTH) return Which(gl_LocalInvocationID.x, i * GROUP - PATCHES_A, PATCHES_B);
    return Which(gl_LocalInvocationID.x - PATCHES_A, i * GROUP, PATCHES_B);
}

// Line and k of a block, pair or patch. Neighbouring invocations have neighbouring k, so that stores of a subgroup
// spread over the banks.
uvec2 block_place(Which at, uint block) {
    return uvec2(at.mine / LINE + (at.more + block * at.patches) / LINE, at.mine % LINE * 8);
}
uvec2 pair_place(bool across, uint i, uint lines) {
    return across ? uvec2(i % lines, i / lines * 2) : uvec2(i / (SLICE / 2), i % (SLICE / 2) * 2);
}
uvec2 patch_place(Which at) {
    return uvec2((at.mine / (SLICE / 4) + at.more / (SLICE / 4)) * 4, at.mine % (SLICE / 4) * 4);
}

// Loads a patch of the whole slice at k0 of an operand whose rows are aligned.
Patch fetch(Operand of, uint form, bool across, Which which, uint k0) {
    const uint bytes = number_bytes(form), pitch = of.pitch * bytes, last = of.lines - 1 - of.line0;
    const uint begin = of.begin + (across ? k0 * of.pitch + of.line0 : of.line0 * of.pitch + k0);
    const uint64_t base = uint64_t(of.x) + uint64_t(begin) * bytes;  // the same for all invocations
    Patch got;
    if (across) {  // the last word may extend past the last line
        const uvec2 at = min(patch_place(which), uvec2(last / 4 * 4, SLICE));
        [[unroll]] for (uint j = 0; j < 4; ++j) {
            const uint64_t from = base + ((at.y + j) * pitch + at.x * bytes);
            if (!packed(form)) got.words[j] = InWords4(from).at[0];
            else if (j % 2 == 0) got.words[j / 2].xy = InWords2(from).at[0];
            else got.words[j / 2].zw = InWords2(from).at[0];
        }
    } else {
        [[unroll]] for (uint b = 0; b < 2; ++b) {
            const uvec2 at = block_place(which, b);
            const uint64_t from = base + (min(at.x, last) * pitch + at.y * bytes);
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

// Number at line c and k j of a patch with k across.
float number(Patch of, uint form, uint j, uint c) {
    if (!packed(form)) return uintBitsToFloat(of.words[j][c]);
    const vec2 both = unpack(of.words[j / 2][j % 2 * 2 + c / 2], form);
    return c % 2 == 0 ? both.x : both.y;
}

// Word of elements at k j and j + 1 of line c of a patch with k across; j is even.
uint turned(Patch of, uint form, uint j, uint c, bool scaled) {
    if (form == ELEMENT_PAIR && !scaled) {
        const uint low = of.words[j / 2][c / 2], high = of.words[j / 2][2 + c / 2];
        return c % 2 == 0 ? low & 0xffff | high << 16 : low >> 16 | high & 0xffff0000u;
    }
    vec2 pair = vec2(number(of, form, j, c), number(of, form, j + 1, c));
    if (scaled) pair *= vec2(of.factors[j], of.factors[j + 1]);
    return pack(pair);
}

// Stores a patch to shared memory; the operand's slice begins at `begin`.
void store(uint begin, uint form, bool across, Which which, Patch of, bool scaled) {
    if (across) {
        const uvec2 at = patch_place(which);
        [[unroll]] for (uint c = 0; c < 4; ++c) {
            const uint to = begin + (at.x + c) * PITCH + at.y / 8, word = at.y / 2 % 4;
            slices[to][word] = turned(of, form, 0, c, scaled);
            slices[to][word + 1] = turned(of, form, 2, c, scaled);
        }
    } else {
        [[unroll]] for (uint b = 0; b < 2; ++b) {
            const uvec2 at = block_place(which, b);
            slices[begin + at.x * PITCH + at.y / 8] =
                packed(form) ? elements(of.words[b], form)
                             : elements(uintBitsToFloat(of.words[2 * b]), uintBitsToFloat(of.words[2 * b + 1]));
        }
    }
}

// Copies by pairs the slice at k0 of an operand whose rows are not aligned, or a last slice that is not whole.
void store_pairs(Operand of, uint form, bool across, uint begin, uint lines, uint batch, uint k0, uint k_end,
                 bool scaled) {
    const uint last = of.lines - 1 - of.line0, pairs = lines * SLICE / 2;
    [[dont_unroll]] for (uint first = gl_LocalInvocationID.x; first < pairs; first += 4 * GROUP) {
        vec2 got[4];
        [[unroll]] for (uint j = 0; j < 4; ++j) {  // concurrent loads
            const uvec2 place = pair_place(across, first + j * GROUP, lines);
            const uint line = of.line0 + min(place.x, last), t = min(k0 + place.y, k_end - 1);
            const bool two = t + 1 < k_end;
            const uint at = of.begin + (across ? t * of.pitch + line : line * of.pitch + t);
            if (across) got[j] = vec2(load_one(of.x, at, form), load_one(of.x, at + (two ? of.pitch : 0), form));
            else got[j] = load_some(of.x, at, two, form);
            if (scaled) got[j] *= vec2(k_scale(batch, t), k_scale(batch, min(t + 1, k_end - 1)));
        }
        [[unroll]] for (uint j = 0; j < 4; ++j) {
            const uvec2 place = pair_place(across, first + j * GROUP, lines);
            const vec2 pair = vec2(k0 + place.y < k_end ? got[j].x : 0.0, k0 + place.y + 1 < k_end ? got[j].y : 0.0);
            slices[begin + place.x * PITCH + place.y / 8][place.y / 2 % 4] = pack(pair);
        }
    }
}

// Sets sums to products of zeros, not to constants. A product is in registers that multiplications accept; NVK puts
// constants into any registers and would then move sums in the loop. The zeros are stored in the place of the second
// slice.
void clear_sums() {
    if (gl_LocalInvocationID.x < 2) slices[BOTH + gl_LocalInvocationID.x] = uvec4(0);
    barrier();
    SUM zero = SUM(0.0);
    LEFT left_zeros;
    RIGHT right_zeros;
    coopMatLoad(left_zeros, slices, BOTH, 0, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(right_zeros, slices, BOTH, 0, gl_CooperativeMatrixLayoutColumnMajor);
    [[unroll]] for (uint i = 0; i < ROWS * COLUMNS; ++i) {
        zero = coopMatMulAdd(left_zeros, right_zeros, zero);
        sum[i] = zero;
    }
}

// Adds the products of one matrix along k of the slices at `begin`.
void multiply(uint begin, uint step) {
    const uint from = begin + step * MATRIX_K / 8;
    RIGHT z[COLUMNS];
    [[unroll]] for (uint j = 0; j < COLUMNS; ++j)
        coopMatLoad(z[j], slices, from + RIGHT_SLICE + (my_block.y + j * MATRIX_N) * PITCH, PITCH,
                    gl_CooperativeMatrixLayoutColumnMajor);
    [[unroll]] for (uint i = 0; i < ROWS; ++i) {
        LEFT x;
        coopMatLoad(x, slices, from + (my_block.x + i * MATRIX_M) * PITCH, PITCH, gl_CooperativeMatrixLayoutRowMajor);
        [[unroll]] for (uint j = 0; j < COLUMNS; ++j)
            sum[i * COLUMNS + j] = coopMatMulAdd(x, z[j], sum[i * COLUMNS + j]);
    }
}

// Loads the slices at k0 and stores them from `to` on; meanwhile multiplies the slices before them, if `multiplies`.
void advance(uint to, bool multiplies, uint batch, uint k0, uint k_whole, uint k_end, uint last) {
    const bool whole = k0 < k_whole;
    [[unroll]] for (uint p = 0; p < PARTS; ++p) {
        const uint first = p * (FETCH / PARTS), from = min(k0, last);
        Patch next[FETCH / PARTS];
        [[unroll]] for (uint i = 0; i < FETCH / PARTS; ++i) {
            if (of_left(first + i)) {
                if (ALIGNED_A) next[i] = fetch(of_a, LAYOUT_A, TRANSPOSE_A, left_patch(first + i), from);
            } else {
                if (ALIGNED_B) next[i] = fetch(of_b, LAYOUT_B, !TRANSPOSE_B, right_patch(first + i), from);
            }
        }
        if (multiplies)
            // The driver decides about unrolling, which takes Mesa's CPU device 5 times as long to compile.
            for (uint step = 0; step < STEPS / PARTS; ++step) multiply(BOTH - to, p * (STEPS / PARTS) + step);
        if (whole) {
            [[unroll]] for (uint i = 0; i < FETCH / PARTS; ++i) {
                if (of_left(first + i)) {
                    const Which which = left_patch(first + i);
                    if (SCALE_K)
                        [[unroll]] for (uint t = 0; t < 4; ++t)
                            next[i].factors[t] = k_scale(batch, k0 + patch_place(which).y + t);
                    if (ALIGNED_A) store(to, LAYOUT_A, TRANSPOSE_A, which, next[i], SCALE_K);
                } else {
                    if (ALIGNED_B)
                        store(to + RIGHT_SLICE, LAYOUT_B, !TRANSPOSE_B, right_patch(first + i), next[i], false);
                }
            }
        }
    }
    if (k0 >= k_end) return;
    if (!ALIGNED_A || !whole) store_pairs(of_a, LAYOUT_A, TRANSPOSE_A, to, TILE_M, batch, k0, k_end, SCALE_K);
    if (!ALIGNED_B || !whole)
        store_pairs(of_b, LAYOUT_B, !TRANSPOSE_B, to + RIGHT_SLICE, TILE_N, batch, k0, k_end, false);
}

// Stores the subgroup's block of y, which begins at (row0, column0). The mapping of a matrix's elements to invocations
// is unknown, so matrices pass through shared memory, one at a time, to lanes that have four columns of a row.
void store_sums(uint part, uint row0, uint column0) {
    const uint batch = part / splits, mine = gl_SubgroupID * VEC4S;
    [[unroll]] for (uint i = 0; i < ROWS * COLUMNS; ++i) {
        coopMatStore(sum[i], slices, mine, MATRIX_N / 4, gl_CooperativeMatrixLayoutRowMajor);
        shared_barrier();
        for (uint at = gl_SubgroupInvocationID; at < VEC4S; at += SUBGROUP) {
            const uint row = row0 + i / COLUMNS * MATRIX_M + at / (MATRIX_N / 4);
            const uint column = column0 + i % COLUMNS * MATRIX_N + at % (MATRIX_N / 4) * 4;
            const uint there = row < m && column < n ? n - column : 0;
            const uint from = batch * aux_batch + row * aux_pitch + column;
            const uint to = part * y_batch + row * y_pitch + column;
            const float factor = y_scale(batch, min(row, m - 1));
            vec4 v = uintBitsToFloat(slices[mine + at]), more = vec4(0.0);
            if (EPILOGUE != 0) more = load_vec4(aux, LAYOUT_AUX, from, there, false);
            [[unroll]] for (uint j = 0; j < 4; ++j)
                if (j < there) v[j] = finish(v[j], BIAS ? bias.at[column + j] : 0.0, factor, more[j]);
            store_vec4(y, LAYOUT_Y, to, there, v, ALIGNED_Y);
        }
        shared_barrier();
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
    const uint k_whole = k_end - (k_end - k_begin) % SLICE;
    const uint last = k_whole > k_begin ? k_whole - SLICE : 0;  // begin of a whole slice, even if not of this chunk
    of_a = Operand(a, batch * a_batch, a_pitch, row0, m);
    of_b = Operand(b, batch * b_batch, b_pitch, column0, n);
    my_block = uvec2(gl_SubgroupID / ACROSS * ROWS * MATRIX_M, gl_SubgroupID % ACROSS * COLUMNS * MATRIX_N);

    clear_sums();
    uint to = 0;
    advance(to, false, batch, k_begin, k_whole, k_end, last);
    for (uint k0 = k_begin; k0 < k_end;) {
        barrier();  // the last iteration fetches and stores slices that are not used
        to = BOTH - to;
        k0 += SLICE;
        advance(to, true, batch, k0, k_whole, k_end, last);
    }
    barrier();  // all are done with the slices
    store_sums(part, row0 + my_block.x, column0 + my_block.y);
}
