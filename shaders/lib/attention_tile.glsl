// Tiles in shared memory for the attention kernels that GPUs run in fp32 (attention_tile*.comp).
//
// A workgroup owns ROWS rows of one or two tensors of heads and visits those of others BLOCK_K at a time. A block comes
// to shared memory SLICE columns at a time (fetch, stage), and so do its own rows, to stay if WHOLE (load_own).
// A tile[row, row of the block] is summed up slice by slice in registers (dot_slice): an invocation has 4 neighbouring
// columns of every LINES-th row. As weights it goes through shared memory (store_tile) and is spent slice by slice on
// sums (add_slice): there an invocation has 4 neighbouring columns of every SUM_LINES-th row, for the kernel's whole
// time in registers.
//
// A workgroup owns rows of one tensor of a kind, QK or VO, at most.
//
// Numerics: fp32; a tile's element is one running sum in ascending columns, the same in every kernel. Columns past the
// head's width count as 0; rows past the last count repeat it.
//
// Why so: for every 64 multiply-adds an invocation reads 8 words of 4 numbers. Neighbours read the same word, or words
// of different banks: lines are an odd number of words long, and rows that neighbours read at once follow each other.
// What comes next is on its way to registers while the present slice is multiplied. The lanes that share a row are
// neighbours in one subgroup. Loops that index registers must unroll; the others are the driver's to unroll or not.
//
// The kernel defines FACTORS: of how many tensors it owns rows, the first being of kind QK. Whoever has written to
// shared memory, or is going to overwrite what others read, passes a barrier: the kernels show all of them.

#include "lib/attention_options.glsl"
#include "lib/vec4.glsl"

layout(constant_id = 3) const uint ROWS = 64;      // of a workgroup
layout(constant_id = 9) const uint BLOCK_K = 32;   // rows of a block, 4 · SUBGROUP at most
layout(constant_id = 10) const uint SLICE = 32;    // columns at a time, a power of two, 8 at least
layout(constant_id = 11) const bool WHOLE = true;  // its rows are in shared memory with all their columns

const uint WORDS = (D + 3) / 4, WORDS_V = (D_V + 3) / 4;  // words of 4 columns of a row
const uint SLICE_WORDS = SLICE / 4;                       // and of a slice of it
const uint SLICES = (D + SLICE - 1) / SLICE, SLICES_V = (D_V + SLICE - 1) / SLICE;
// Words of a slice that an invocation fetches.
const uint FETCH = (BLOCK_K * SLICE_WORDS + GROUP - 1) / GROUP;
uint row_words(uint kind) { return kind == QK ? WORDS : WORDS_V; }

// Invocations over a tile, and over a slice of a sum.
const uint ACROSS = BLOCK_K / 4;
const uint LINES = GROUP / ACROSS;
const uint HEIGHT = ROWS / LINES;  // rows of the tile for each
const uint SUM_LINES = GROUP / SLICE_WORDS;
const uint SUM_HEIGHT = ROWS / SUM_LINES;  // and of the sum
const uint SUMS = (SLICES > SLICES_V ? SLICES : SLICES_V) * SUM_HEIGHT;  // of the wider kind

const uint OWN_PITCH = (WHOLE ? WORDS : SLICE_WORDS) | 1;
const uint OWN_PITCH_V = (WHOLE ? WORDS_V : SLICE_WORDS) | 1;
const uint STAGED_PITCH = SLICE_WORDS | 1;
const uint WEIGHT_PITCH = ACROSS | 1;

// Its rows stay beside the weights if WHOLE; a slice of them is read before there are weights, and makes room.
const uint OWN_WORDS = ROWS * (OWN_PITCH + (WHOLE && FACTORS > 1 ? OWN_PITCH_V : 0));
const uint WEIGHTS = WHOLE ? OWN_WORDS : 0;  // where the weights begin
const uint WEIGHT_WORDS = ROWS * WEIGHT_PITCH;

shared vec4 own[WHOLE ? OWN_WORDS + WEIGHT_WORDS : (OWN_WORDS > WEIGHT_WORDS ? OWN_WORDS : WEIGHT_WORDS)];
shared vec4 staged[BLOCK_K * STAGED_PITCH];

// Where the workgroup's row `row` of a tensor begins.
uint own_at(uint kind, uint row) {
    return kind == QK ? row * OWN_PITCH : (WHOLE ? ROWS * OWN_PITCH : 0) + row * OWN_PITCH_V;
}

uint place() { return gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID; }

// The invocation's rows of a tile, the first of its 4 columns, and whether it is the first of those that share a row.
uint tile_row(uint i) { return place() / ACROSS + i * LINES; }
uint tile_column() { return place() % ACROSS * 4; }
bool leads_row() { return place() % ACROSS == 0; }

// The invocation's rows of a sum, and the first of its 4 columns of slice s.
uint sum_row(uint i) { return place() / SLICE_WORDS + i * SUM_LINES; }
uint sum_column(uint s) { return s * SLICE + place() % SLICE_WORDS * 4; }

// Columns 4 word … 4 word + 3 of row `row` of x.
vec4 load_word(uint kind, In x, uint base, uint pitch, uint row, uint word) {
    const uint there = word < row_words(kind) ? head_width(kind) - word * 4 : 0;
    return load_vec4(x, LAYOUT, base + row * pitch + word * 4, there, vec4_aligned(uint64_t(x), pitch, base));
}

// The workgroup's rows of x times `factor`, from `first` on: whole, or slice s alone.
void load_own(uint kind, uint s, In x, uint base, uint pitch, uint first, uint count, float factor) {
    const uint line = WHOLE ? row_words(kind) : SLICE_WORDS, from = WHOLE ? 0 : s * SLICE_WORDS;
    [[dont_unroll]] for (uint i = place(); i < ROWS * line; i += GROUP) {
        const uint word = i % line, row = min(first + i / line, count - 1);
        own[own_at(kind, i / line) + word] = factor * load_word(kind, x, base, pitch, row, from + word);
    }
}

// Slice s of rows first … first + BLOCK_K - 1 of x, on its way to shared memory.
void fetch(uint kind, uint s, In x, uint base, uint pitch, uint first, uint count, out vec4 next[FETCH]) {
    [[unroll]] for (uint i = 0; i < FETCH; ++i) {
        const uint word = i * GROUP + place();
        const uint row = min(first + word / SLICE_WORDS, count - 1);
        next[i] = load_word(kind, x, base, pitch, row, s * SLICE_WORDS + word % SLICE_WORDS);
    }
}

// Row 4 t + e of the staged ones.
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

// slice s of sum[row] += Σ_j weights[row, j] · (row j of the block), which has `count` rows
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

// Σ or the maximum of what those have who share a row of the tile.
float join_row(float x, bool maximum) {
    [[unroll]] for (uint bit = 1; bit < ACROSS; bit *= 2) {
        const float other = subgroupShuffleXor(x, bit);
        x = maximum ? max(x, other) : x + other;
    }
    return x;
}

// Zeros in the rows from `count` on, whatever they hold: with padding that may be no number.
void clear_rows(uint first, uint count, inout vec4 sum[SUMS]) {
    [[unroll]] for (uint i = 0; i < SUMS; ++i)
        if (first + sum_row(i % SUM_HEIGHT) >= count) sum[i] = vec4(0.0);
}

// With `adds` the addend's rows are added, which lie as in y but `addend_pitch` apart.
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
