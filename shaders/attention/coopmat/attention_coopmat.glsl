// Tiles of cooperative matrices shared by the attention kernels for GPUs (attention_coopmat*.comp).
//
// A subgroup owns ROWS rows of a tensor of heads and visits the rows of another tensor BLOCK_K at a time, which the
// workgroup has copied to shared memory as 16-bit numbers (stage). dot_rows computes a tile[own row, row of the block].
// The lanes load the tile as fp32, a few columns of a row each (load_tile), and write it back as 16-bit weights
// (store_tile), which add_rows multiplies with the block. Tile and weights share memory that only the subgroup uses, so
// between two stagings no subgroup waits for another.
//
// Multiplications sum along lines of shared memory, so that an invocation loads its elements of a matrix by 64 or 128
// bits. dot_rows needs rows of the block as they are, add_rows needs them transposed, either when they are staged
// (stage_turned) or in between (load_patches, store_patches).
//
// For each kind of tensor, QK and VO, a kernel has at most one tensor whose rows a subgroup owns, one that it visits
// and one that it computes.
//
// Numerics: operands and weights are rounded to ELEMENT; products and sums are fp32, in an order that the device
// chooses but never varies. Columns past the head's width and rows past the valid ones are 0.
//
// Why: own rows and sums stay in registers, so shared memory is read for the block only, once for all STACK matrices of
// a subgroup. Own rows and sums are global variables, because compilers rarely see matrices as function arguments.
// Loops that index them must unroll; the driver decides about the others. Mesa's CPU device computes matrices wrongly
// if a whole subgroup branches around them, so no subgroup does.
//
// The kernel defines FACTORS and RESULTS, the sums of the widths of the tensors whose rows a subgroup owns, and of
// those it computes; the tensor of kind VO is the last.

#include "attention/attention_options.glsl"
#include "lib/matrix.glsl"

// One matrix; its extents are multiples of 8.
layout(constant_id = 9) const uint MATRIX_M = 16;
layout(constant_id = 10) const uint MATRIX_N = 16;
layout(constant_id = 11) const uint MATRIX_K = 16;
layout(constant_id = 12) const uint STACK = 1;  // matrices per subgroup, one below the other
layout(constant_id = 13) const uint BLOCK_K = 32;  // rows of a block, a multiple of the matrix's extents

const uint SUBGROUPS = GROUP / SUBGROUP;
const uint ROWS = STACK * MATRIX_M;
const uint WIDEST = MATRIX_N > MATRIX_K ? MATRIX_N : MATRIX_K;
const uint WIDTH = (D + WIDEST - 1) / WIDEST * WIDEST;  // D rounded up to whole matrices
const uint WIDTH_V = (D_V + WIDEST - 1) / WIDEST * WIDEST;
// Blocks of 8 columns from one line to the next: one more than a line has, so that loads of a matrix spread over the
// banks.
const uint PITCH = WIDTH / 8 + 1;
const uint PITCH_V = WIDTH_V / 8 + 1;
const uint TURNED_PITCH = BLOCK_K / 8 + 1;
const uint TILE_PITCH = BLOCK_K / 4 + 1;
// Size of a block of each kind, as it is or transposed.
const uint STAGED = BLOCK_K * PITCH > WIDTH * TURNED_PITCH ? BLOCK_K * PITCH : WIDTH * TURNED_PITCH;
const uint STAGED_V = BLOCK_K * PITCH_V > WIDTH_V * TURNED_PITCH ? BLOCK_K * PITCH_V : WIDTH_V * TURNED_PITCH;
// Patches of 4 rows and 4 columns of a block that an invocation transposes, for the wider kind.
const uint PATCHES = (BLOCK_K * (WIDTH > WIDTH_V ? WIDTH : WIDTH_V) / 16 + GROUP - 1) / GROUP;

uint padded_width(uint kind) { return kind == QK ? WIDTH : WIDTH_V; }

// Lanes of a tile: LINES of its rows at a time, each row shared by PARTS lanes.
const uint PARTS = SUBGROUP > MATRIX_M ? SUBGROUP / MATRIX_M : 1;
const uint LINES = SUBGROUP / PARTS;
const uint PASSES = ROWS / LINES;
const uint SPAN = BLOCK_K / PARTS;  // columns per lane
const uint TILE_PER_LANE = PASSES * SPAN;

#define LEFT coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA>
#define RIGHT coopmat<ELEMENT, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB>
#define SUM coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>

LEFT rows[STACK * (FACTORS) / MATRIX_K];
SUM sums[STACK * (RESULTS) / MATRIX_N];

// First matrix of a kind in `rows` and in `sums`.
uint rows_of(uint kind) { return kind == QK ? 0 : STACK * ((FACTORS) - WIDTH_V) / MATRIX_K; }
uint sums_of(uint kind) { return kind == QK ? 0 : STACK * ((RESULTS) - WIDTH_V) / MATRIX_N; }

shared uvec4 staged[STAGED + STAGED_V];
shared uvec4 tiles[SUBGROUPS * ROWS * TILE_PITCH];

uint lane() { return gl_SubgroupInvocationID; }

// First word of row `row` of the subgroup's tile.
uint tile_at(uint row) { return (gl_SubgroupID * ROWS + row) * TILE_PITCH; }

// Row and columns of the tile that a lane has.
uint own_row(uint pass) { return pass * LINES + lane() % LINES; }
uint own_column(uint i) { return (i / 8 * PARTS + lane() / LINES) * 8 + i % 8; }

// First word of row `row` of the staged block, and of column `column` of the transposed block.
uint staged_at(uint kind, uint row) { return kind == QK ? row * PITCH : STAGED + row * PITCH_V; }
uint turned_at(uint kind, uint column) { return (kind == QK ? 0 : STAGED) + column * TURNED_PITCH; }

// Copies rows first … first + BLOCK_K - 1 of x to shared memory, by the whole workgroup, between two barriers.
void stage(uint kind, In x, uint base, uint pitch, uint first, uint count) {
    const bool aligned = words_aligned(uint64_t(x), LAYOUT, pitch, base);
    const uint line = padded_width(kind) / 8;  // blocks of 8 columns
    [[unroll]] for (uint from = 0; from < BLOCK_K * line; from += GROUP) {
        const uint block = from + gl_LocalInvocationID.x;
        if (block < BLOCK_K * line)
            staged[staged_at(kind, block / line) + block % line] =
                fetch(x, LAYOUT, base, pitch, block, line, uvec2(first, 0), uvec2(count, head_width(kind)), aligned);
    }
}

// 4 elements of each of 4 rows of the block, two to a word.
struct Patch {
    uvec2 rows[4];
};

// First row and column of the invocation's patch i; neighbouring invocations have neighbouring rows.
uvec2 patch_place(uint i) {
    const uint at = gl_LocalInvocationID.x + i * GROUP;
    return uvec2(at % (BLOCK_K / 4) * 4, at / (BLOCK_K / 4) * 4);
}

// Stores a patch to the transposed block.
void store_patch(uint kind, uvec2 place, Patch of) {
    if (place.y < padded_width(kind))
        [[unroll]] for (uint c = 0; c < 4; ++c) {
            const uint to = turned_at(kind, place.y + c) + place.x / 8, word = place.x / 2 % 4;
            [[unroll]] for (uint r = 0; r < 4; r += 2) {
                const uint low = of.rows[r][c / 2], high = of.rows[r + 1][c / 2];
                staged[to][word + r / 2] = c % 2 == 0 ? low & 0xffff | high << 16 : low >> 16 | high & 0xffff0000;
            }
        }
}

// Copies rows as stage() does, and transposes them.
void stage_turned(uint kind, In x, uint base, uint pitch, uint first, uint count) {
    const bool aligned = words_aligned(uint64_t(x), LAYOUT, pitch, base);
    [[unroll]] for (uint i = 0; i < PATCHES; ++i) {
        const uvec2 at = patch_place(i);
        Patch got;
        [[unroll]] for (uint r = 0; r < 4; ++r) {
            const uint row = first + at.x + r, width = head_width(kind);
            const uint there = row < count && at.y < width ? width - at.y : 0;
            got.rows[r] = fetch_four(x, LAYOUT, base + row * pitch + at.y, there, aligned);
        }
        store_patch(kind, at, got);
    }
}

// Load and store for transposing a staged block in place, with a barrier between them.
void load_patches(uint kind, out Patch patches[PATCHES]) {
    [[unroll]] for (uint i = 0; i < PATCHES; ++i) {
        const uvec2 at = patch_place(i);
        if (at.y < padded_width(kind))
            [[unroll]] for (uint r = 0; r < 4; ++r) {
                const uint from = staged_at(kind, at.x + r) + at.y / 8, word = at.y / 2 % 4;
                patches[i].rows[r] = uvec2(staged[from][word], staged[from][word + 1]);
            }
    }
}

void store_patches(uint kind, Patch patches[PATCHES]) {
    [[unroll]] for (uint i = 0; i < PATCHES; ++i) store_patch(kind, patch_place(i), patches[i]);
}

// Loads the subgroup's own rows of a tensor, from `first` on, through its tile, 2 · BLOCK_K columns at a time.
void load_rows(uint kind, In x, uint base, uint pitch, uint first, uint count) {
    const bool aligned = words_aligned(uint64_t(x), LAYOUT, pitch, base);
    const uint depth = padded_width(kind) / MATRIX_K;  // matrices per row
    [[unroll]] for (uint from = 0; from < padded_width(kind); from += 2 * BLOCK_K) {
        shared_barrier();
        for (uint block = lane(); block < ROWS * BLOCK_K / 4; block += SUBGROUP)
            tiles[tile_at(block / (BLOCK_K / 4)) + block % (BLOCK_K / 4)] =
                fetch(x, LAYOUT, base, pitch, block, BLOCK_K / 4, uvec2(first, from), uvec2(count, head_width(kind)),
                      aligned);
        shared_barrier();
        [[unroll]] for (uint d = from / MATRIX_K; d < min(depth, (from + 2 * BLOCK_K) / MATRIX_K); ++d)
            [[unroll]] for (uint s = 0; s < STACK; ++s)
                coopMatLoad(rows[rows_of(kind) + s * depth + d], tiles,
                            tile_at(s * MATRIX_M) + (d * MATRIX_K - from) / 8, TILE_PITCH,
                            gl_CooperativeMatrixLayoutRowMajor);
    }
}

void clear_sums() {
    [[unroll]] for (uint i = 0; i < STACK * (RESULTS) / MATRIX_N; ++i) sums[i] = SUM(0.0);
}

// tile[r, j] = <own row r, row j of the block>
void dot_rows(uint kind) {
    const uint depth = padded_width(kind) / MATRIX_K;
    shared_barrier();  // all lanes are done with the tile
    for (uint j = 0; j < BLOCK_K; j += MATRIX_N) {
        SUM part[STACK];
        [[unroll]] for (uint s = 0; s < STACK; ++s) part[s] = SUM(0.0);
        [[unroll]] for (uint d = 0; d < depth; ++d) {
            const uint at = staged_at(kind, j) + d * MATRIX_K / 8;
            RIGHT block;  // NVK loads 32 bits at a time unless the distance of lines is a constant
            if (kind == QK) coopMatLoad(block, staged, at, PITCH, gl_CooperativeMatrixLayoutColumnMajor);
            else coopMatLoad(block, staged, at, PITCH_V, gl_CooperativeMatrixLayoutColumnMajor);
            [[unroll]] for (uint s = 0; s < STACK; ++s)
                part[s] = coopMatMulAdd(rows[rows_of(kind) + s * depth + d], block, part[s]);
        }
        [[unroll]] for (uint s = 0; s < STACK; ++s)
            coopMatStore(part[s], tiles, tile_at(s * MATRIX_M) + j / 4, TILE_PITCH, gl_CooperativeMatrixLayoutRowMajor);
    }
}

// row r of the sum += Σ_j weight[r, j] · (row j of the block, which is transposed)
void add_rows(uint kind) {
    const uint columns = padded_width(kind) / MATRIX_N;  // matrices per row
    for (uint j = 0; j < BLOCK_K; j += MATRIX_K) {
        LEFT weights[STACK];
        [[unroll]] for (uint s = 0; s < STACK; ++s)
            coopMatLoad(weights[s], tiles, tile_at(s * MATRIX_M) + j / 8, TILE_PITCH,
                        gl_CooperativeMatrixLayoutRowMajor);
        [[unroll]] for (uint c = 0; c < columns; ++c) {
            RIGHT block;
            coopMatLoad(block, staged, turned_at(kind, c * MATRIX_N) + j / 8, TURNED_PITCH,
                        gl_CooperativeMatrixLayoutColumnMajor);
            [[unroll]] for (uint s = 0; s < STACK; ++s) {
                const uint i = sums_of(kind) + s * columns + c;
                sums[i] = coopMatMulAdd(weights[s], block, sums[i]);
            }
        }
    }
}

void scale_sums(uint kind, float factor) {
    [[unroll]] for (uint i = 0; i < STACK * padded_width(kind) / MATRIX_N; ++i) sums[sums_of(kind) + i] *= factor;
}

// Loads the lane's elements of the tile: x[pass · SPAN + i] is column own_column(i) of row own_row(pass).
void load_tile(out float x[TILE_PER_LANE]) {
    shared_barrier();
    [[unroll]] for (uint i = 0; i < TILE_PER_LANE; i += 4) {
        const vec4 four = uintBitsToFloat(tiles[tile_at(own_row(i / SPAN)) + own_column(i % SPAN) / 4]);
        [[unroll]] for (uint e = 0; e < 4; ++e) x[i + e] = four[e];
    }
}

void store_tile(float x[TILE_PER_LANE]) {
    shared_barrier();  // all lanes have loaded
    [[unroll]] for (uint i = 0; i < TILE_PER_LANE; i += 8)
        tiles[tile_at(own_row(i / SPAN)) + own_column(i % SPAN) / 8] =
            elements(vec4(x[i], x[i + 1], x[i + 2], x[i + 3]), vec4(x[i + 4], x[i + 5], x[i + 6], x[i + 7]));
    shared_barrier();
}

// Stores sums through the tile, BLOCK_K columns at a time, because the mapping of a matrix's elements to invocations is
// unknown. With `adds` adds the addend, whose rows are addend_pitch elements apart.
void store_sums(uint kind, Out y, uint base, uint pitch, uint first, uint count, bool adds, In addend, uint addend_base,
                uint addend_pitch, uint form) {
    const bool aligned = vec4_aligned(uint64_t(y), pitch, base);
    const uint columns = padded_width(kind) / MATRIX_N;
    [[unroll]] for (uint from = 0; from < padded_width(kind); from += BLOCK_K) {
        shared_barrier();
        [[unroll]] for (uint c = from / MATRIX_N; c < min(columns, (from + BLOCK_K) / MATRIX_N); ++c)
            [[unroll]] for (uint s = 0; s < STACK; ++s)
                coopMatStore(sums[sums_of(kind) + s * columns + c], tiles,
                             tile_at(s * MATRIX_M) + (c * MATRIX_N - from) / 4, TILE_PITCH,
                             gl_CooperativeMatrixLayoutRowMajor);
        shared_barrier();
        for (uint word = lane(); word < ROWS * BLOCK_K / 4; word += SUBGROUP) {
            const uint row = word / (BLOCK_K / 4), column = from + word % (BLOCK_K / 4) * 4;
            const uint width = head_width(kind);
            const uint there = first + row < count && column < width ? width - column : 0;
            vec4 made = uintBitsToFloat(tiles[tile_at(row) + (column - from) / 4]);
            const uint more = addend_base + (first + row) * addend_pitch + column;
            if (adds) made += load_vec4(addend, LAYOUT, more, there, false);
            store_vec4(y, form, base + (first + row) * pitch + column, there, made, aligned);
        }
    }
}

void store_sums(uint kind, Out y, uint base, uint pitch, uint first, uint count, uint form) {
    store_sums(kind, y, base, pitch, first, count, false, In(uint64_t(0)), 0, 0, form);
}
