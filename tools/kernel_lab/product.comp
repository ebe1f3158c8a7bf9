#version 460
// y = a · b of bfloat16 matrices whose extents are multiples of the tile, by cooperative matrices of a subgroup: a
// plain kernel to try one change at a time, by definitions (tools/kernel-lab).
//
//   TILE_M, TILE_N, BLOCK_M, BLOCK_N   tile of a workgroup, and block of a subgroup
//   SLICE, STAGES   terms of k in shared memory, and number of slices there
//   A_TURNED, B_TURNED   a is [k, m] (TN), b is [n, k] (NT)
//   EARLY           the next slice is fetched before, and stored after, the multiplications; else it is stored first
//   ONLY            1: multiplies without fetching, 2: fetches and stores, 3: fetches
//   PADDING         words of 16 bytes after each line of shared memory
//   UNUSED          words of shared memory that nobody uses
//   GROUPED         workgroups go through this many rows of tiles at a time
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_spirv_intrinsics : require

#ifndef TILE_M
#define TILE_M 128
#endif
#ifndef TILE_N
#define TILE_N 128
#endif
#ifndef BLOCK_M
#define BLOCK_M 64
#endif
#ifndef BLOCK_N
#define BLOCK_N 64
#endif
#ifndef SLICE
#define SLICE 32
#endif
#ifndef STAGES
#define STAGES 1
#endif
#ifndef ONLY
#define ONLY 0
#endif
#ifndef PADDING
#define PADDING 1
#endif
#ifndef UNUSED
#define UNUSED 0
#endif
#ifndef GROUPED
#define GROUPED 1
#endif

const uint GROUP = TILE_M / BLOCK_M * (TILE_N / BLOCK_N) * 32;
layout(local_size_x = GROUP) in;
layout(buffer_reference, buffer_reference_align = 16) restrict readonly buffer Words { uvec4 at[]; };
layout(buffer_reference, buffer_reference_align = 16) restrict writeonly buffer Numbers { float at[]; };
layout(push_constant) uniform Args {
    Words a;
    Words b;
    Numbers y;
    uint m, n, k;
};

// bfloat16, which glslc does not know (shaders/lib/matrix_bf16.glsl).
#define ELEMENT spirv_type(extensions = ["SPV_KHR_bfloat16"], capabilities = [5116, 5118], id = 22, 16, 0)
#define LEFT coopmat<ELEMENT, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA>
#define RIGHT coopmat<ELEMENT, gl_ScopeSubgroup, 16, 16, gl_MatrixUseB>
#define SUM coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>

// Shared memory keeps the order of memory. Words of 8 numbers of a line, and lines of a slice.
#ifdef A_TURNED
const uint WORDS_A = TILE_M / 8, LINES_A = SLICE;
#else
const uint WORDS_A = SLICE / 8, LINES_A = TILE_M;
#endif
#ifdef B_TURNED
const uint WORDS_B = SLICE / 8, LINES_B = TILE_N;
#else
const uint WORDS_B = TILE_N / 8, LINES_B = SLICE;
#endif
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
#if ONLY != 1
    const uint t = min(slice, k / SLICE - 1) * SLICE;
    [[unroll]] for (uint i = 0; i < FETCH_A; ++i) {
        const uint word = gl_LocalInvocationID.x + i * GROUP;
        const uvec2 at = uvec2(word / WORDS_A, word % WORDS_A);
#ifdef A_TURNED
        next_a[i] = a.at[((t + at.x) * m + tile.x) / 8 + at.y];
#else
        next_a[i] = a.at[((tile.x + at.x) * k + t) / 8 + at.y];
#endif
    }
    [[unroll]] for (uint i = 0; i < FETCH_B; ++i) {
        const uint word = gl_LocalInvocationID.x + i * GROUP;
        const uvec2 at = uvec2(word / WORDS_B, word % WORDS_B);
#ifdef B_TURNED
        next_b[i] = b.at[((tile.y + at.x) * k + t) / 8 + at.y];
#else
        next_b[i] = b.at[((t + at.x) * n + tile.y) / 8 + at.y];
#endif
    }
#endif
}

void store(uint stage) {
#if ONLY == 3
    [[unroll]] for (uint i = 0; i < FETCH_A; ++i) seen ^= next_a[i];
    [[unroll]] for (uint i = 0; i < FETCH_B; ++i) seen ^= next_b[i];
#else
    [[unroll]] for (uint i = 0; i < FETCH_A; ++i) {
        const uint at = gl_LocalInvocationID.x + i * GROUP;
        slices[stage * BOTH + at / WORDS_A * PITCH_A + at % WORDS_A] = next_a[i];
    }
    [[unroll]] for (uint i = 0; i < FETCH_B; ++i) {
        const uint at = gl_LocalInvocationID.x + i * GROUP;
        slices[stage * BOTH + RIGHT_SLICE + at / WORDS_B * PITCH_B + at % WORDS_B] = next_b[i];
    }
#endif
}

void multiply(uint stage) {
#if ONLY < 2
    [[unroll]] for (uint t = 0; t < SLICE; t += 16) {
        RIGHT z[COLUMNS];
        [[unroll]] for (uint j = 0; j < COLUMNS; ++j) {
            const uint from = stage * BOTH + RIGHT_SLICE, column = block.y + 16 * j;
#ifdef B_TURNED
            coopMatLoad(z[j], slices, from + column * PITCH_B + t / 8, PITCH_B, gl_CooperativeMatrixLayoutColumnMajor);
#else
            coopMatLoad(z[j], slices, from + t * PITCH_B + column / 8, PITCH_B, gl_CooperativeMatrixLayoutRowMajor);
#endif
        }
        [[unroll]] for (uint i = 0; i < ROWS; ++i) {
            const uint from = stage * BOTH, row = block.x + 16 * i;
            LEFT x;
#ifdef A_TURNED
            coopMatLoad(x, slices, from + t * PITCH_A + row / 8, PITCH_A, gl_CooperativeMatrixLayoutColumnMajor);
#else
            coopMatLoad(x, slices, from + row * PITCH_A + t / 8, PITCH_A, gl_CooperativeMatrixLayoutRowMajor);
#endif
            [[unroll]] for (uint j = 0; j < COLUMNS; ++j)
                sum[i * COLUMNS + j] = coopMatMulAdd(x, z[j], sum[i * COLUMNS + j]);
        }
    }
#endif
}

void main() {
    const uint across = n / TILE_N, of_rows = GROUPED * across, place = gl_WorkGroupID.x % of_rows;
    tile = uvec2((gl_WorkGroupID.x / of_rows * GROUPED + place % GROUPED) * TILE_M, place / GROUPED * TILE_N);
    block = uvec2(gl_SubgroupID / (TILE_N / BLOCK_N) * BLOCK_M, gl_SubgroupID % (TILE_N / BLOCK_N) * BLOCK_N);
    [[unroll]] for (uint i = 0; i < ROWS * COLUMNS; ++i) sum[i] = SUM(0.0);
    fetch(0);
#ifdef EARLY
    store(0);
#endif
    [[dont_unroll]] for (uint slice = 0; slice < k / SLICE; ++slice) {
#ifdef EARLY
        barrier();
        fetch(slice + 1);
        multiply(slice % STAGES);
        store((slice + 1) % STAGES);
#else
        if (STAGES == 1) barrier();
        store(slice % STAGES);
        fetch(slice + 1);
        barrier();
        multiply(slice % STAGES);
#endif
    }
#if ONLY > 1
    barrier();
    if ((seen.x ^ slices[gl_LocalInvocationID.x].x) == 12345) y.at[0] = 1.0;  // so that nothing is left out
#else
    [[unroll]] for (uint i = 0; i < ROWS; ++i)
        [[unroll]] for (uint j = 0; j < COLUMNS; ++j)
            coopMatStore(sum[i * COLUMNS + j], y.at, (tile.x + block.x + 16 * i) * n + tile.y + block.y + 16 * j, n,
                         gl_CooperativeMatrixLayoutRowMajor);
#endif
}
