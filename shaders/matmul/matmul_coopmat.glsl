// matmul.comp with cooperative matrices: tiles of a and b pass through shared memory as 16-bit numbers.
//
// Shapes, splits: as matmul.comp, but k is at least SLICE.
// Owner: a workgroup has a tile of y, and each of its DOWN · ACROSS subgroups a block of ROWS · COLUMNS matrices of the
//   tile. Shared memory has room for one slice of a and b: while it is multiplied, the next is fetched into registers.
// Numerics: operands are rounded to ELEMENT and overflow to infinity. Products and sums are fp32, in an order that the
//   device chooses but never varies; terms past the end of k count as 0.
//
// Why: there is no branch between the loads of a slice and the multiplications, because compilers wait for loads where
// branches meet. Therefore lines past the edge repeat the last ones, whose products are never stored, and the rest of k
// after the last whole slice is fetched separately, word by word. One slice instead of two lets twice as many
// workgroups share a multiprocessor, which hides more latency than a second slice (docs/lab/nvidia-h200.md).
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
// An operand whose k runs from line to line is turned while it is stored, so that its k runs along lines of shared
// memory and an invocation loads its elements of a matrix by 64 or 128 bits. Otherwise it keeps its order, for devices
// that load the transpose of a matrix as fast.
layout(constant_id = 15) const bool TURN = true;
// Rows in memory start at multiples of 16 bytes.
layout(constant_id = 16) const bool ALIGNED_A = false;
layout(constant_id = 17) const bool ALIGNED_B = false;
layout(constant_id = 18) const bool ALIGNED_Y = false;

const uint TILE_M = DOWN * ROWS * MATRIX_M;
const uint TILE_N = ACROSS * COLUMNS * MATRIX_N;
const uint SLICE = STEPS * MATRIX_K;
// Operands that are stored with k from line to line.
const bool KEEP_A = TRANSPOSE_A && !TURN;
const bool KEEP_B = !TRANSPOSE_B && !TURN;
// Lines of a slice in shared memory, and words of 8 numbers of a line. A line is padded by one, so that loads spread
// over the banks.
const uint LINES_A = KEEP_A ? SLICE : TILE_M;
const uint LINES_B = KEEP_B ? SLICE : TILE_N;
const uint WORDS_A = (KEEP_A ? TILE_M : SLICE) / 8;
const uint WORDS_B = (KEEP_B ? TILE_N : SLICE) / 8;
// Patches of 16 numbers, distributed evenly over the invocations, those of a's slice first.
const uint PATCHES_A = TILE_M * SLICE / 16;
const uint PATCHES_B = TILE_N * SLICE / 16;
const uint FETCH = (PATCHES_A + PATCHES_B) / GROUP;
const uint VEC4S = MATRIX_M * MATRIX_N / 4;  // per matrix of y

const uint RIGHT_SLICE = LINES_A * (WORDS_A + 1);         // first word of b's slice
const uint BOTH = RIGHT_SLICE + LINES_B * (WORDS_B + 1);  // words of a slice of a and b
const uint FINISHED = DOWN * ACROSS * VEC4S;              // words of a matrix per subgroup

#define LEFT coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA>
#define RIGHT coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB>
#define SUM coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>

shared uvec4 slices[BOTH > FINISHED ? BOTH : FINISHED];  // at the end one finished matrix per subgroup

SUM sum[ROWS * COLUMNS];
uvec2 my_block;  // place of the subgroup's block in the tile

// Operand of a product: rows of a, or columns of b.
struct Operand {
    In x;
    uint begin, pitch;
    uint row0, rows;  // first row of the tile, and number of rows of the matrix
};
Operand of_a, of_b;

// 16 numbers of a slice, in registers in their format in memory: words of one number or, packed, of two. A patch is two
// blocks of 8 neighbours in memory or, if they are turned, 4 rows of each of 4 k.
struct Patch {
    uvec4 words[4];
};
Patch next[FETCH];

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

// Line of shared memory, with `words` words, and number in the line, of a block of 8.
uvec2 block_place(Which at, uint block, uint words) {
    return uvec2(at.mine / words + (at.more + block * at.patches) / words, at.mine % words * 8);
}
// Row and k of a patch that is turned. Neighbouring invocations have neighbouring k, so that stores of a subgroup
// spread over the banks.
uvec2 patch_place(Which at) {
    return uvec2((at.mine / (SLICE / 4) + at.more / (SLICE / 4)) * 4, at.mine % (SLICE / 4) * 4);
}
// Line of shared memory, and number in it, of the first of two numbers that are neighbours in memory.
uvec2 pair_place(uint i, bool turned, uint lines, uint words) {
    return turned ? uvec2(i % lines, i / lines * 2) : uvec2(i / (4 * words), i % (4 * words) * 2);
}

// Loads a patch of the whole slice at k0 of an operand whose rows are aligned. Words may extend past the last row.
Patch fetch(Operand of, uint form, bool across, uint words, Which which, uint k0) {
    const uint bytes = number_bytes(form), pitch = of.pitch * bytes, last = of.rows - 1 - of.row0;
    const uint begin = of.begin + (across ? k0 * of.pitch + of.row0 : of.row0 * of.pitch + k0);
    const uint64_t base = uint64_t(of.x) + uint64_t(begin) * bytes;  // the same for all invocations
    Patch got;
    if (across && TURN) {
        const uvec2 at = min(patch_place(which), uvec2(last / 4 * 4, SLICE));
        [[unroll]] for (uint j = 0; j < 4; ++j) {
            const uint64_t from = base + ((at.y + j) * pitch + at.x * bytes);
            if (!packed(form)) got.words[j] = InWords4(from).at[0];
            else if (j % 2 == 0) got.words[j / 2].xy = InWords2(from).at[0];
            else got.words[j / 2].zw = InWords2(from).at[0];
        }
    } else {
        const uint per_word = 16 / bytes;
        const uvec2 end = across ? uvec2(SLICE, last / per_word * per_word) : uvec2(last, SLICE);
        [[unroll]] for (uint b = 0; b < 2; ++b) {
            const uvec2 at = block_place(which, b, words);
            [[unroll]] for (uint w = 0; w < 2; ++w) {
                const uvec2 from = min(uvec2(at.x, at.y + 4 * w), end);
                const uint64_t address = base + (from.x * pitch + from.y * bytes);
                if (!packed(form)) got.words[2 * b + w] = InWords4(address).at[0];
                else if (w == 0) got.words[b] = InWords4(address).at[0];
            }
        }
    }
    return got;
}

// Number of row c and k j of a patch that is turned.
float number(Patch of, uint form, uint j, uint c) {
    if (!packed(form)) return uintBitsToFloat(of.words[j][c]);
    const vec2 both = unpack(of.words[j / 2][j % 2 * 2 + c / 2], form);
    return c % 2 == 0 ? both.x : both.y;
}

// Word of elements at k j and j + 1 of row c of a patch that is turned; j is even.
uint turned(Patch of, uint form, uint j, uint c, vec2 factors, bool scaled) {
    if (form == ELEMENT_PAIR && !scaled) {
        const uint low = of.words[j / 2][c / 2], high = of.words[j / 2][2 + c / 2];
        return c % 2 == 0 ? low & 0xffff | high << 16 : low >> 16 | high & 0xffff0000u;
    }
    const vec2 pair = vec2(number(of, form, j, c), number(of, form, j + 1, c));
    return pack(scaled ? pair * factors : pair);
}

// Elements of block b of a patch in the order of memory.
uvec4 in_order(Patch of, uint form, uint b, float factor, bool scaled) {
    if (!packed(form)) {
        const vec4 low = uintBitsToFloat(of.words[2 * b]), high = uintBitsToFloat(of.words[2 * b + 1]);
        return scaled ? elements(low * factor, high * factor) : elements(low, high);
    }
    if (!scaled) return elements(of.words[b], form);
    uvec4 made;
    [[unroll]] for (uint i = 0; i < 4; ++i) made[i] = pack(unpack(of.words[b][i], form) * factor);
    return made;
}

// Stores a patch of the slice at k0 to shared memory; the operand's slice begins at `begin`. The terms of a sum have
// factors if `scaled`, and then k runs `across`.
void store(uint begin, uint form, bool across, uint words, Which which, Patch of, uint batch, uint k0, bool scaled) {
    if (across && TURN) {
        const uvec2 at = patch_place(which);
        vec4 factors = vec4(1.0);
        if (scaled)
            [[unroll]] for (uint t = 0; t < 4; ++t) factors[t] = k_scale(batch, k0 + at.y + t);
        [[unroll]] for (uint c = 0; c < 4; ++c) {
            const uint to = begin + (at.x + c) * (words + 1) + at.y / 8, word = at.y / 2 % 4;
            slices[to][word] = turned(of, form, 0, c, factors.xy, scaled);
            slices[to][word + 1] = turned(of, form, 2, c, factors.zw, scaled);
        }
    } else {
        [[unroll]] for (uint b = 0; b < 2; ++b) {
            const uvec2 at = block_place(which, b, words);
            const float factor = scaled ? k_scale(batch, k0 + at.x) : 1.0;
            slices[begin + at.x * (words + 1) + at.y / 8] = in_order(of, form, b, factor, scaled);
        }
    }
}

// Copies by pairs the slice at k0 of an operand whose rows are not aligned, or a last slice that is not whole.
void store_pairs(Operand of, uint form, bool across, uint begin, uint lines, uint words, uint batch, uint k0,
                 uint k_end, bool scaled) {
    const uint last = of.rows - 1 - of.row0, pairs = lines * words * 4;
    const bool keep = across && !TURN;
    [[dont_unroll]] for (uint first = gl_LocalInvocationID.x; first < pairs; first += 4 * GROUP) {
        vec2 got[4];
        [[unroll]] for (uint j = 0; j < 4; ++j) {  // concurrent loads
            const uvec2 place = pair_place(first + j * GROUP, across && TURN, lines, words);
            if (keep) {
                const uint row = min(place.y, last / 2 * 2), t = min(k0 + place.x, k_end - 1);
                got[j] = load_some(of.x, of.begin + t * of.pitch + of.row0 + row, row < last, form);
                if (scaled) got[j] *= k_scale(batch, t);
            } else {
                const uint row = of.row0 + min(place.x, last), t = min(k0 + place.y, k_end - 1);
                const bool two = t + 1 < k_end;
                const uint at = of.begin + (across ? t * of.pitch + row : row * of.pitch + t);
                if (across) got[j] = vec2(load_one(of.x, at, form), load_one(of.x, at + (two ? of.pitch : 0), form));
                else got[j] = load_some(of.x, at, two, form);
                if (scaled) got[j] *= vec2(k_scale(batch, t), k_scale(batch, min(t + 1, k_end - 1)));
            }
        }
        [[unroll]] for (uint j = 0; j < 4; ++j) {
            const uvec2 place = pair_place(first + j * GROUP, across && TURN, lines, words);
            const uvec2 k = k0 + (keep ? uvec2(place.x) : place.yy + uvec2(0, 1));
            const vec2 pair = vec2(k.x < k_end ? got[j].x : 0.0, k.y < k_end ? got[j].y : 0.0);
            slices[begin + place.x * (words + 1) + place.y / 8][place.y / 2 % 4] = pack(pair);
        }
    }
}

// Sets sums to products of zeros, not to constants. A product is in registers that multiplications accept; NVK puts
// constants into any registers and would then move sums in the loop.
void clear_sums() {
    if (gl_LocalInvocationID.x < 2) slices[gl_LocalInvocationID.x] = uvec4(0);
    barrier();
    SUM zero = SUM(0.0);
    LEFT left_zeros;
    RIGHT right_zeros;
    coopMatLoad(left_zeros, slices, 0, 0, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(right_zeros, slices, 0, 0, gl_CooperativeMatrixLayoutColumnMajor);
    [[unroll]] for (uint i = 0; i < ROWS * COLUMNS; ++i) {
        zero = coopMatMulAdd(left_zeros, right_zeros, zero);
        sum[i] = zero;
    }
}

// Adds the products of one matrix along k of the slice.
void multiply(uint step) {
    const uint k = step * MATRIX_K, a_line = WORDS_A + 1, b_line = WORDS_B + 1;
    RIGHT z[COLUMNS];
    [[unroll]] for (uint j = 0; j < COLUMNS; ++j) {
        const uint column = my_block.y + j * MATRIX_N;
        if (KEEP_B)
            coopMatLoad(z[j], slices, RIGHT_SLICE + k * b_line + column / 8, b_line,
                        gl_CooperativeMatrixLayoutRowMajor);
        else
            coopMatLoad(z[j], slices, RIGHT_SLICE + column * b_line + k / 8, b_line,
                        gl_CooperativeMatrixLayoutColumnMajor);
    }
    [[unroll]] for (uint i = 0; i < ROWS; ++i) {
        const uint row = my_block.x + i * MATRIX_M;
        LEFT x;
        if (KEEP_A) coopMatLoad(x, slices, k * a_line + row / 8, a_line, gl_CooperativeMatrixLayoutColumnMajor);
        else coopMatLoad(x, slices, row * a_line + k / 8, a_line, gl_CooperativeMatrixLayoutRowMajor);
        [[unroll]] for (uint j = 0; j < COLUMNS; ++j)
            sum[i * COLUMNS + j] = coopMatMulAdd(x, z[j], sum[i * COLUMNS + j]);
    }
}

// Loads the invocation's patches of the whole slices at k0.
void fetch_slices(uint k0) {
    [[unroll]] for (uint i = 0; i < FETCH; ++i) {
        if (of_left(i)) {
            if (ALIGNED_A) next[i] = fetch(of_a, LAYOUT_A, TRANSPOSE_A, WORDS_A, left_patch(i), k0);
        } else {
            if (ALIGNED_B) next[i] = fetch(of_b, LAYOUT_B, !TRANSPOSE_B, WORDS_B, right_patch(i), k0);
        }
    }
}

// Stores the slices at k0: patches that were fetched, and by pairs what was not.
void store_slices(uint batch, uint k0, uint k_whole, uint k_end) {
    const bool whole = k0 < k_whole;
    if (whole) {
        [[unroll]] for (uint i = 0; i < FETCH; ++i) {
            if (of_left(i)) {
                if (ALIGNED_A)
                    store(0, LAYOUT_A, TRANSPOSE_A, WORDS_A, left_patch(i), next[i], batch, k0, SCALE_K);
            } else {
                if (ALIGNED_B)
                    store(RIGHT_SLICE, LAYOUT_B, !TRANSPOSE_B, WORDS_B, right_patch(i), next[i], batch, k0, false);
            }
        }
    }
    if (!ALIGNED_A || !whole)
        store_pairs(of_a, LAYOUT_A, TRANSPOSE_A, 0, LINES_A, WORDS_A, batch, k0, k_end, SCALE_K);
    if (!ALIGNED_B || !whole)
        store_pairs(of_b, LAYOUT_B, !TRANSPOSE_B, RIGHT_SLICE, LINES_B, WORDS_B, batch, k0, k_end, false);
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
    fetch_slices(min(k_begin, last));
    for (uint k0 = k_begin; k0 < k_end; k0 += SLICE) {
        barrier();  // all are done with the slices before
        store_slices(batch, k0, k_whole, k_end);
        fetch_slices(min(k0 + SLICE, last));  // the last iteration fetches slices that are not used
        barrier();
        // The driver decides about unrolling, which takes Mesa's CPU device 5 times as long to compile.
        for (uint step = 0; step < STEPS; ++step) multiply(step);
    }
    barrier();  // all are done with the slices
    store_sums(part, row0 + my_block.x, column0 + my_block.y);
}
