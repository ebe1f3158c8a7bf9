// Tiles of cooperative matrices shared by the attention kernels for GPUs (attention_coopmat*.comp).
//
// A subgroup holds ROWS rows of a tensor of heads ("its rows") and meets the rows of another TILE at a time, which the
// workgroup has put into shared memory as 16-bit numbers (stage). A tile[row, other] is made by dot_rows, taken by the
// lanes as fp32, a few columns of a row each (take), given back as weights of 16 bits (give) and spent by add_rows.
// Tile and weights lie in the same memory, which is the subgroup's own: between two stagings none waits for another.
//
// Numerics: operands and weights are rounded to ELEMENT; products and sums are fp32, in an order that is the device's
// own but always the same. Columns past the head's width and rows past the last count as 0.
//
// Why so: its rows and its sums stay in registers, so that shared memory is read for the other rows only, once for all
// STACK matrices of a subgroup. They are variables of the module and no function's arguments, which compilers rarely
// see of this type. Loops that index them must unroll; the others are the driver's to unroll or not. Mesa's CPU device
// computes matrices wrongly where a whole subgroup has been led around them, so none is.
//
// The kernel defines FACTORS and RESULTS: how many tensors' rows a subgroup holds, and how many it makes.

#include "lib/attention_options.glsl"
#include "lib/matrix.glsl"

// One matrix; its extents are multiples of 8.
layout(constant_id = 9) const uint MATRIX_M = 16;
layout(constant_id = 10) const uint MATRIX_N = 16;
layout(constant_id = 11) const uint MATRIX_K = 16;
layout(constant_id = 12) const uint STACK = 1;  // matrices of a subgroup, one below the other
layout(constant_id = 13) const uint TILE = 32;  // other rows at a time, a multiple of the matrix's extents

const uint SUBGROUPS = GROUP / SUBGROUP;
const uint ROWS = STACK * MATRIX_M;
const uint WIDEST = MATRIX_N > MATRIX_K ? MATRIX_N : MATRIX_K;
const uint WIDTH = (D + WIDEST - 1) / WIDEST * WIDEST;  // of a row among matrices
const uint DEPTH = WIDTH / MATRIX_K;                    // matrices of a row as a factor
const uint COLUMNS = WIDTH / MATRIX_N;                  // and as a sum
const uint LEFTS = STACK * DEPTH;                       // of all its rows
const uint SUMS = STACK * COLUMNS;
const uint LINE = WIDTH / 8;                            // blocks of 8 columns
const uint STAGED = TILE * LINE;
// A block between lines, so that loads of a matrix spread over the banks.
const uint PITCH = LINE + 1;
const uint TILE_PITCH = TILE / 4 + 1;

// Lanes of a tile: LINES of its rows at a time, each row shared by PARTS lanes.
const uint PARTS = SUBGROUP > MATRIX_M ? SUBGROUP / MATRIX_M : 1;
const uint LINES = SUBGROUP / PARTS;
const uint PASSES = ROWS / LINES;
const uint SPAN = TILE / PARTS;  // columns of a lane
const uint HELD = PASSES * SPAN;

#define LEFT coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA>
#define RIGHT coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB>
#define SUM coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>

LEFT rows[FACTORS * LEFTS];
SUM sums[RESULTS * SUMS];

shared uvec4 staged[2 * TILE * PITCH];
shared uvec4 tiles[SUBGROUPS * ROWS * TILE_PITCH];

uint lane() { return gl_SubgroupInvocationID; }

// Where row `row` of the subgroup's own tile begins.
uint tile_at(uint row) { return (gl_SubgroupID * ROWS + row) * TILE_PITCH; }

// The row and the columns that a lane has of the tile.
uint own_row(uint pass) { return pass * LINES + lane() % LINES; }
uint own_column(uint i) { return (i / 8 * PARTS + lane() / LINES) * 8 + i % 8; }

// Rows first … first + TILE - 1 of x into place `slot`, by the whole workgroup, between two barriers.
void stage(uint slot, In x, uint base, uint pitch, uint first, uint count) {
    const bool aligned = vec4_aligned(uint64_t(x), pitch, base);
    [[unroll]] for (uint from = 0; from < STAGED; from += GROUP) {
        const uint block = from + gl_LocalInvocationID.x;
        if (block < STAGED)
            staged[(slot * TILE + block / LINE) * PITCH + block % LINE] =
                packed(fetch(x, LAYOUT, base, pitch, block, LINE, uvec2(first, 0), uvec2(count, D), aligned));
    }
}

// Its rows of a tensor, from `first` on; they pass through its tile, 2 · TILE columns at a time.
void load_rows(uint factor, In x, uint base, uint pitch, uint first, uint count) {
    const bool aligned = vec4_aligned(uint64_t(x), pitch, base);
    [[unroll]] for (uint from = 0; from < WIDTH; from += 2 * TILE) {
        shared_barrier();
        for (uint block = lane(); block < ROWS * TILE / 4; block += SUBGROUP)
            tiles[tile_at(block / (TILE / 4)) + block % (TILE / 4)] =
                packed(fetch(x, LAYOUT, base, pitch, block, TILE / 4, uvec2(first, from), uvec2(count, D), aligned));
        shared_barrier();
        [[unroll]] for (uint d = from / MATRIX_K; d < min(DEPTH, (from + 2 * TILE) / MATRIX_K); ++d)
            [[unroll]] for (uint s = 0; s < STACK; ++s)
                coopMatLoad(rows[factor * LEFTS + s * DEPTH + d], tiles,
                            tile_at(s * MATRIX_M) + (d * MATRIX_K - from) / 8, TILE_PITCH,
                            gl_CooperativeMatrixLayoutRowMajor);
    }
}

void clear_sums() {
    [[unroll]] for (uint i = 0; i < RESULTS * SUMS; ++i) sums[i] = SUM(0.0);
}

// tile[r, j] = <row r of the factor, row j of the slot>
void dot_rows(uint factor, uint slot) {
    shared_barrier();  // everyone is done with the tile
    for (uint j = 0; j < TILE; j += MATRIX_N) {
        SUM part[STACK];
        [[unroll]] for (uint s = 0; s < STACK; ++s) part[s] = SUM(0.0);
        [[unroll]] for (uint d = 0; d < DEPTH; ++d) {
            RIGHT other;
            coopMatLoad(other, staged, (slot * TILE + j) * PITCH + d * MATRIX_K / 8, PITCH,
                        gl_CooperativeMatrixLayoutColumnMajor);
            [[unroll]] for (uint s = 0; s < STACK; ++s)
                part[s] = coopMatMulAdd(rows[factor * LEFTS + s * DEPTH + d], other, part[s]);
        }
        [[unroll]] for (uint s = 0; s < STACK; ++s)
            coopMatStore(part[s], tiles, tile_at(s * MATRIX_M) + j / 4, TILE_PITCH, gl_CooperativeMatrixLayoutRowMajor);
    }
}

// row r of the result += Σ_j weight[r, j] · (row j of the slot)
void add_rows(uint slot, uint result) {
    for (uint j = 0; j < TILE; j += MATRIX_K) {
        LEFT weights[STACK];
        [[unroll]] for (uint s = 0; s < STACK; ++s)
            coopMatLoad(weights[s], tiles, tile_at(s * MATRIX_M) + j / 8, TILE_PITCH,
                        gl_CooperativeMatrixLayoutRowMajor);
        [[unroll]] for (uint c = 0; c < COLUMNS; ++c) {
            RIGHT other;
            coopMatLoad(other, staged, (slot * TILE + j) * PITCH + c * MATRIX_N / 8, PITCH,
                        gl_CooperativeMatrixLayoutRowMajor);
            [[unroll]] for (uint s = 0; s < STACK; ++s) {
                const uint i = result * SUMS + s * COLUMNS + c;
                sums[i] = coopMatMulAdd(weights[s], other, sums[i]);
            }
        }
    }
}

// What the lane has of the tile: x[pass · SPAN + i] is column own_column(i) of row own_row(pass).
void take(out float x[HELD]) {
    shared_barrier();
    [[unroll]] for (uint i = 0; i < HELD; i += 4) {
        const vec4 four = uintBitsToFloat(tiles[tile_at(own_row(i / SPAN)) + own_column(i % SPAN) / 4]);
        [[unroll]] for (uint e = 0; e < 4; ++e) x[i + e] = four[e];
    }
}

void give(float x[HELD]) {
    shared_barrier();  // everyone has taken
    [[unroll]] for (uint i = 0; i < HELD; i += 8)
        tiles[tile_at(own_row(i / SPAN)) + own_column(i % SPAN) / 8] =
            packed(Block(vec4(x[i], x[i + 1], x[i + 2], x[i + 3]), vec4(x[i + 4], x[i + 5], x[i + 6], x[i + 7])));
    shared_barrier();
}

// Which invocation holds which element of a matrix is the device's secret: sums leave through the tile, TILE columns
// at a time. With `adds` the addend's rows, which follow each other at addend_pitch, are added.
void store_rows(uint result, Out y, uint base, uint pitch, uint first, uint count, bool adds, In addend,
                uint addend_base, uint addend_pitch) {
    const bool aligned = vec4_aligned(uint64_t(y), pitch, base);
    [[unroll]] for (uint from = 0; from < WIDTH; from += TILE) {
        shared_barrier();
        [[unroll]] for (uint c = from / MATRIX_N; c < min(COLUMNS, (from + TILE) / MATRIX_N); ++c)
            [[unroll]] for (uint s = 0; s < STACK; ++s)
                coopMatStore(sums[result * SUMS + s * COLUMNS + c], tiles,
                             tile_at(s * MATRIX_M) + (c * MATRIX_N - from) / 4, TILE_PITCH,
                             gl_CooperativeMatrixLayoutRowMajor);
        shared_barrier();
        for (uint quad = lane(); quad < ROWS * TILE / 4; quad += SUBGROUP) {
            const uint row = quad / (TILE / 4), column = from + quad % (TILE / 4) * 4;
            const uint there = first + row < count && column < D ? D - column : 0;
            vec4 made = uintBitsToFloat(tiles[tile_at(row) + (column - from) / 4]);
            const uint more = addend_base + (first + row) * addend_pitch + column;
            if (adds) made += load_vec4(addend, LAYOUT, more, there, false);
            store_vec4(y, LAYOUT, base + (first + row) * pitch + column, there, made, aligned);
        }
    }
}

void store_rows(uint result, Out y, uint base, uint pitch, uint first, uint count) {
    store_rows(result, y, base, pitch, first, count, false, In(uint64_t(0)), 0, 0);
}
