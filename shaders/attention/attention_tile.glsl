// Tiles in shared memory for the attention kernels that GPUs run in fp32 (attention_tile*.comp).
//
// A workgroup owns ROWS rows of one or two tensors of heads and visits the rows of others BLOCK_K at a time. A block is
// copied to shared memory SLICE columns at a time (fetch, stage). Own rows are copied by slices, too, or once, if WHOLE
// (load_own). A tile[own row, row of the block] is summed slice by slice in registers (dot_slice): an invocation has 4
// neighbouring columns of every LINES-th row. The tile is written to shared memory as weights (store_tile) and
// multiplied slice by slice with a block (add_slice). The sums stay in registers throughout the kernel: an invocation
// has 4 neighbouring columns of every SUM_LINES-th row.
//
// A workgroup owns rows of at most one tensor of each kind, QK and VO.
//
// Numerics: fp32; an element of a tile is one running sum in ascending columns, equal in every kernel. Columns past the
// head's width count as 0; rows past the end repeat the last one.
//
// Why: for every 64 multiply-adds an invocation reads 8 words of 4 numbers. Neighbours read the same word, or words of
// different banks: lines are an odd number of words long, and rows that neighbours read at once are adjacent. The next
// slice is loaded to registers while the present one is multiplied. The lanes that share a row are neighbours in one
// subgroup. Loops that index registers must unroll; the driver decides about the others.
//
// The kernel defines FACTORS, the number of tensors whose rows it owns; the first is of kind QK. The kernel calls
// barrier() between writes of shared memory and reads by other invocations, in either order.

#include "attention/attention_options.glsl"
#include "lib/vec4.glsl"

layout(constant_id = 3) const uint ROWS = 64;      // per workgroup
layout(constant_id = 9) const uint BLOCK_K = 32;   // rows of a block, at most 4 · SUBGROUP
layout(constant_id = 10) const uint SLICE = 32;    // columns at a time, a power of two, at least 8
layout(constant_id = 11) const bool WHOLE = true;  // own rows are in shared memory with all their columns

const uint WORDS = (D + 3) / 4, WORDS_V = (D_V + 3) / 4;  // words of 4 columns per row
const uint SLICE_WORDS = SLICE / 4;                       // per row of a slice
const uint SLICES = (D + SLICE - 1) / SLICE, SLICES_V = (D_V + SLICE - 1) / SLICE;
// Words of a slice per invocation.
const uint FETCH = (BLOCK_K * SLICE_WORDS + GROUP - 1) / GROUP;
uint row_words(uint kind) { return kind == QK ? WORDS : WORDS_V; }

// Arrangement of invocations over a tile, and over a slice of a sum.
const uint ACROSS = BLOCK_K / 4;
const uint LINES = GROUP / ACROSS;
const uint HEIGHT = ROWS / LINES;  // rows of the tile per invocation
const uint SUM_LINES = GROUP / SLICE_WORDS;
const uint SUM_HEIGHT = ROWS / SUM_LINES;  // rows of the sum per invocation
const uint SUMS = (SLICES > SLICES_V ? SLICES : SLICES_V) * SUM_HEIGHT;  // for the wider kind

const uint OWN_PITCH = (WHOLE ? WORDS : SLICE_WORDS) | 1;
const uint OWN_PITCH_V = (WHOLE ? WORDS_V : SLICE_WORDS) | 1;
const uint STAGED_PITCH = SLICE_WORDS | 1;
const uint WEIGHT_PITCH = ACROSS | 1;

// If WHOLE, own rows and weights are stored side by side; else weights replace the slice of own rows, which is read
// before.
const uint OWN_WORDS = ROWS * (OWN_PITCH + (WHOLE && FACTORS > 1 ? OWN_PITCH_V : 0));
const uint WEIGHTS = WHOLE ? OWN_WORDS : 0;  // first word of the weights
const uint WEIGHT_WORDS = ROWS * WEIGHT_PITCH;

shared vec4 own[WHOLE ? OWN_WORDS + WEIGHT_WORDS : (OWN_WORDS > WEIGHT_WORDS ? OWN_WORDS : WEIGHT_WORDS)];
shared vec4 staged[BLOCK_K * STAGED_PITCH];

// First word of the workgroup's row `row` of a tensor.
uint own_at(uint kind, uint row) {
    return kind == QK ? row * OWN_PITCH : (WHOLE ? ROWS * OWN_PITCH : 0) + row * OWN_PITCH_V;
}

uint place() { return gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID; }

// The invocation's i-th row of a tile and first of 4 columns; leads_row is true for the first invocation of a row.
uint tile_row(uint i) { return place() / ACROSS + i * LINES; }
uint tile_column() { return place() % ACROSS * 4; }
bool leads_row() { return place() % ACROSS == 0; }

// The invocation's i-th row of a sum, and the first of its 4 columns of slice s.
uint sum_row(uint i) { return place() / SLICE_WORDS + i * SUM_LINES; }
uint sum_column(uint s) { return s * SLICE + place() % SLICE_WORDS * 4; }

// Loads columns 4 word … 4 word + 3 of row `row` of x.
vec4 load_word(uint kind, In x, uint base, uint pitch, uint row, uint word) {
    const uint there = word < row_words(kind) ? head_width(kind) - word * 4 : 0;
    return load_vec4(x, LAYOUT, base + row * pitch + word * 4, there, vec4_aligned(uint64_t(x), pitch, base));
}

// Copies the workgroup's rows of x from `first` on, times `factor`, to shared memory: all columns, or only slice s.
void load_own(uint kind, uint s, In x, uint base, uint pitch, uint first, uint count, float factor) {
    const uint line = WHOLE ? row_words(kind) : SLICE_WORDS, from = WHOLE ? 0 : s * SLICE_WORDS;
    [[dont_unroll]] for (uint i = place(); i < ROWS * line; i += GROUP) {
        const uint word = i % line, row = min(first + i / line, count - 1);
        own[own_at(kind, i / line) + word] = factor * load_word(kind, x, base, pitch, row, from + word);
    }
}

// Loads slice s of rows first … first + BLOCK_K - 1 of x to registers, for stage().
void fetch(uint kind, uint s, In x, uint base, uint pitch, uint first, uint count, out vec4 next[FETCH]) {
    [[unroll]] for (uint i = 0; i < FETCH; ++i) {
        const uint word = i * GROUP + place();
        const uint row = min(first + word / SLICE_WORDS, count - 1);
        next[i] = load_word(kind, x, base, pitch, row, s * SLICE_WORDS + word % SLICE_WORDS);
    }
}

// First word of row 4 t + e of the staged slice.
uint staged_line(uint t, uint e) { return (e * ACROSS + t) * STAGED_PITCH; }

void stage(vec4 next[FETCH], float factor) {
    [[unroll]] for (uint i = 0; i < FETCH; ++i) {
        const uint word = i * GROUP + place(), row = word / SLICE_WORDS;
        if (row < BLOCK_K) staged[staged_line(row / 4, row % 4) + word % SLICE_WORDS] = factor * next[i];
    }
}

// tile[r, j] += <own row r, row j of the block> over slice s
void dot_slice(uint kind, uint s, inout vec4 tile[HEIGHT]) {
    const uint from = WHOLE ? s * SLICE_WORDS : 0;
    const uint depth = min(SLICE_WORDS, row_words(kind) - s * SLICE_WORDS);
    [[dont_unroll]] for (uint d = 0; d < depth; ++d) {
        vec4 block[4];
        [[unroll]] for (uint j = 0; j < 4; ++j) block[j] = staged[staged_line(tile_column() / 4, j) + d];
        [[unroll]] for (uint i = 0; i < HEIGHT; ++i) {
            const vec4 row = own[own_at(kind, tile_row(i)) + from + d];
            [[unroll]] for (uint j = 0; j < 4; ++j)
                [[unroll]] for (uint e = 0; e < 4; ++e) tile[i][j] += row[e] * block[j][e];
        }
    }
}

uint weights_at(uint row, uint t) { return WEIGHTS + row * WEIGHT_PITCH + t; }

void store_tile(vec4 tile[HEIGHT]) {
    [[unroll]] for (uint i = 0; i < HEIGHT; ++i) own[weights_at(tile_row(i), tile_column() / 4)] = tile[i];
}

// slice s of sum[row] += Σ_j weights[row, j] · (row j of the block), for a block of `count` rows
void add_slice(uint s, uint count, inout vec4 sum[SUMS]) {
    const uint lines = (min(count, BLOCK_K) + 3) / 4;
    [[dont_unroll]] for (uint t = 0; t < lines; ++t) {
        vec4 block[4];
        [[unroll]] for (uint e = 0; e < 4; ++e) block[e] = staged[staged_line(t, e) + place() % SLICE_WORDS];
        [[unroll]] for (uint i = 0; i < SUM_HEIGHT; ++i) {
            const vec4 weight = own[weights_at(sum_row(i), t)];
            [[unroll]] for (uint e = 0; e < 4; ++e) sum[s * SUM_HEIGHT + i] += weight[e] * block[e];
        }
    }
}

void clear(out vec4 sum[SUMS]) {
    [[unroll]] for (uint i = 0; i < SUMS; ++i) sum[i] = vec4(0.0);
}

void clear_tile(out vec4 tile[HEIGHT]) {
    [[unroll]] for (uint i = 0; i < HEIGHT; ++i) tile[i] = vec4(0.0);
}

// Sum or maximum of x over the invocations that share a row of the tile.
float join_row(float x, bool maximum) {
    [[unroll]] for (uint bit = 1; bit < ACROSS; bit *= 2) {
        const float other = subgroupShuffleXor(x, bit);
        x = maximum ? max(x, other) : x + other;
    }
    return x;
}

// Sets the rows from `count` on to 0. Padding may have made them NaN.
void clear_rows(uint first, uint count, inout vec4 sum[SUMS]) {
    [[unroll]] for (uint i = 0; i < SUMS; ++i)
        if (first + sum_row(i % SUM_HEIGHT) >= count) sum[i] = vec4(0.0);
}

// Stores factor · sum to y. With `adds` adds the addend, whose rows are `addend_pitch` elements apart.
void store_sums(uint kind, vec4 sum[SUMS], float factor, Out y, uint base, uint pitch, uint first, uint count,
                bool adds, In addend, uint addend_base, uint addend_pitch, uint form) {
    const bool aligned = vec4_aligned(uint64_t(y), pitch, base);
    const uint width = head_width(kind), slices = kind == QK ? SLICES : SLICES_V;
    [[unroll]] for (uint i = 0; i < slices * SUM_HEIGHT; ++i) {
        const uint row = first + sum_row(i % SUM_HEIGHT), column = sum_column(i / SUM_HEIGHT);
        const uint there = row < count && column < width ? width - column : 0;
        vec4 made = factor * sum[i];
        if (adds) made += load_vec4(addend, LAYOUT, addend_base + row * addend_pitch + column, there, false);
        store_vec4(y, form, base + row * pitch + column, there, made, aligned);
    }
}

void store_sums(uint kind, vec4 sum[SUMS], float factor, Out y, uint base, uint pitch, uint first, uint count,
                uint form) {
    store_sums(kind, sum, factor, y, base, pitch, first, count, false, In(uint64_t(0)), 0, 0, form);
}
