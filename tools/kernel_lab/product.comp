#version 460
// y = a · b of bfloat16 matrices whose extents are multiples of the tile, by cooperative matrices of a subgroup: a
// plain kernel to try one change at a time, by constants (kernel_lab.cpp). y is fp32.
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"
#include "lib/matrix_bf16.glsl"

layout(constant_id = 2) const bool TRANSPOSE_A = false;
layout(constant_id = 3) const bool TRANSPOSE_B = false;
layout(constant_id = 4) const uint TILE_M = 128;  // of a workgroup
layout(constant_id = 5) const uint TILE_N = 128;
layout(constant_id = 6) const uint BLOCK_M = 64;  // of a subgroup
layout(constant_id = 7) const uint BLOCK_N = 64;
layout(constant_id = 8) const uint SLICE = 32;    // terms of k in shared memory
layout(constant_id = 9) const uint STAGES = 1;    // slices there
layout(constant_id = 10) const uint PADDING = 1;  // words of 16 bytes after each line there
layout(constant_id = 11) const uint UNUSED = 0;   // words there that nobody uses
layout(constant_id = 12) const uint GROUPED = 1;  // rows of tiles that workgroups go through at a time
// The next slice is stored after the multiplications, not before; needs two stages.
layout(constant_id = 13) const bool STORED_LATE = false;
layout(constant_id = 14) const bool FETCHES = true;  // parts that a measurement may leave out
layout(constant_id = 15) const bool STORES = true;
layout(constant_id = 16) const bool MULTIPLIES = true;

layout(buffer_reference, buffer_reference_align = 16) restrict readonly buffer InWords4 { uvec4 at[]; };
layout(push_constant) uniform Args {
    InWords4 a;
    InWords4 b;
    Out y;
    uint m;
    uint n;
    uint k;
};

#define LEFT coopmat<ELEMENT, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA>
#define RIGHT coopmat<ELEMENT, gl_ScopeSubgroup, 16, 16, gl_MatrixUseB>
#define SUM coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>

// Shared memory keeps the order of memory: lines of a slice, and words of 8 numbers of a line.
const uint LINES_A = TRANSPOSE_A ? SLICE : TILE_M, WORDS_A = (TRANSPOSE_A ? TILE_M : SLICE) / 8;
const uint LINES_B = TRANSPOSE_B ? TILE_N : SLICE, WORDS_B = (TRANSPOSE_B ? SLICE : TILE_N) / 8;
const uint PITCH_A = WORDS_A + PADDING, PITCH_B = WORDS_B + PADDING;
const uint RIGHT_SLICE = LINES_A * PITCH_A, BOTH = RIGHT_SLICE + LINES_B * PITCH_B + UNUSED;
const uint FETCH_A = LINES_A * WORDS_A / GROUP, FETCH_B = LINES_B * WORDS_B / GROUP;
const uint ROWS = BLOCK_M / 16, COLUMNS = BLOCK_N / 16;

shared uvec4 slices[STAGES * BOTH];
SUM sum[ROWS * COLUMNS];
uvec4 next_a[FETCH_A], next_b[FETCH_B];
uvec4 seen = uvec4(0);
uvec2 tile, block;  // first row and column: of the tile, and of the block in the tile

void fetch(uint slice) {
    if (!FETCHES) return;
    const uint t = min(slice, k / SLICE - 1) * SLICE;
    [[unroll]] for (uint i = 0; i < FETCH_A; ++i) {
        const uint word = gl_LocalInvocationID.x + i * GROUP, line = word / WORDS_A;
        const uint from = TRANSPOSE_A ? (t + line) * m + tile.x : (tile.x + line) * k + t;
        next_a[i] = a.at[from / 8 + word % WORDS_A];
    }
    [[unroll]] for (uint i = 0; i < FETCH_B; ++i) {
        const uint word = gl_LocalInvocationID.x + i * GROUP, line = word / WORDS_B;
        const uint from = TRANSPOSE_B ? (tile.y + line) * k + t : (t + line) * n + tile.y;
        next_b[i] = b.at[from / 8 + word % WORDS_B];
    }
}

void store(uint stage) {
    [[unroll]] for (uint i = 0; i < FETCH_A; ++i) {
        const uint word = gl_LocalInvocationID.x + i * GROUP;
        if (STORES) slices[stage * BOTH + word / WORDS_A * PITCH_A + word % WORDS_A] = next_a[i];
        else seen ^= next_a[i];
    }
    [[unroll]] for (uint i = 0; i < FETCH_B; ++i) {
        const uint word = gl_LocalInvocationID.x + i * GROUP;
        if (STORES) slices[stage * BOTH + RIGHT_SLICE + word / WORDS_B * PITCH_B + word % WORDS_B] = next_b[i];
        else seen ^= next_b[i];
    }
}

void multiply(uint stage) {
    if (!MULTIPLIES) return;
    [[unroll]] for (uint t = 0; t < SLICE; t += 16) {
        RIGHT z[COLUMNS];
        [[unroll]] for (uint j = 0; j < COLUMNS; ++j) {
            const uint from = stage * BOTH + RIGHT_SLICE, column = block.y + 16 * j;
            if (TRANSPOSE_B)
                coopMatLoad(z[j], slices, from + column * PITCH_B + t / 8, PITCH_B,
                            gl_CooperativeMatrixLayoutColumnMajor);
            else
                coopMatLoad(z[j], slices, from + t * PITCH_B + column / 8, PITCH_B,
                            gl_CooperativeMatrixLayoutRowMajor);
        }
        [[unroll]] for (uint i = 0; i < ROWS; ++i) {
            const uint from = stage * BOTH, row = block.x + 16 * i;
            LEFT x;
            if (TRANSPOSE_A)
                coopMatLoad(x, slices, from + t * PITCH_A + row / 8, PITCH_A, gl_CooperativeMatrixLayoutColumnMajor);
            else
                coopMatLoad(x, slices, from + row * PITCH_A + t / 8, PITCH_A, gl_CooperativeMatrixLayoutRowMajor);
            [[unroll]] for (uint j = 0; j < COLUMNS; ++j)
                sum[i * COLUMNS + j] = coopMatMulAdd(x, z[j], sum[i * COLUMNS + j]);
        }
    }
}

void main() {
    const uint across = n / TILE_N, of_rows = GROUPED * across, place = group_index() % of_rows;
    tile = uvec2((group_index() / of_rows * GROUPED + place % GROUPED) * TILE_M, place / GROUPED * TILE_N);
    block = uvec2(gl_SubgroupID / (TILE_N / BLOCK_N) * BLOCK_M, gl_SubgroupID % (TILE_N / BLOCK_N) * BLOCK_N);
    [[unroll]] for (uint i = 0; i < ROWS * COLUMNS; ++i) sum[i] = SUM(0.0);
    fetch(0);
    if (STORED_LATE) store(0);
    [[dont_unroll]] for (uint slice = 0; slice < k / SLICE; ++slice) {
        if (STORED_LATE) {
            barrier();
            fetch(slice + 1);
            multiply(slice % STAGES);
            store((slice + 1) % STAGES);
        } else {
            if (STAGES == 1) barrier();
            store(slice % STAGES);
            fetch(slice + 1);
            barrier();
            multiply(slice % STAGES);
        }
    }
    barrier();
    // So that compilers leave nothing out.
    if (!MULTIPLIES && (seen.x ^ slices[gl_LocalInvocationID.x].x) == 12345) y.at[0] = 1.0;
    [[unroll]] for (uint i = 0; i < ROWS; ++i)
        [[unroll]] for (uint j = 0; j < COLUMNS; ++j)
            if (MULTIPLIES)
                coopMatStore(sum[i * COLUMNS + j], y.at, (tile.x + block.x + 16 * i) * n + tile.y + block.y + 16 * j, n,
                             gl_CooperativeMatrixLayoutRowMajor);
}
