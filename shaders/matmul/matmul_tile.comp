#version 460
// matmul.comp for GPUs: tiles of a and b pass through shared memory.
//
// Shapes, splits: as matmul.comp.
// Owner: a workgroup of (TILE / THREAD)² invocations has a tile of y; an invocation has THREAD · THREAD elements in
//   blocks of 4 · 4, spread over the tile so that neighbours read neighbouring words. Shared memory has room for two
//   slices of a and b: while one is multiplied, the next is fetched into registers and stored as the other slice, with
//   one barrier per slice.
// Numerics: fp32, each element one running sum in ascending k.
//
// Why: the loop over whole slices must be almost only multiply-adds. An invocation fetches words of four neighbours,
// each in one access if ALIGNED, at places in the tile that never change. The loop has no checks for the ends of
// matrices: rows past the edge repeat the last ones, and their products are never stored; the rest of k follows after
// the loop. Fetched words are converted only when they are staged, because converting waits for the loads.
#include "matmul/matmul.glsl"
#include "lib/vec4.glsl"

layout(constant_id = 7) const uint TILE = 64;   // rows and columns; in this file columns of op(b) are called rows, too
layout(constant_id = 8) const uint THREAD = 4;  // a multiple of 4
layout(constant_id = 9) const uint SLICE = 16;  // of k
// Elements 4 i … 4 i + 3 of every row are one aligned word; unless it is along k, it may be read past the edge.
layout(constant_id = 10) const bool ALIGNED_A = false;
layout(constant_id = 11) const bool ALIGNED_B = false;

const uint SIDE = TILE / THREAD;  // invocations
const uint BLOCKS = THREAD / 4;
const uint LINE = TILE / 4;   // words of one k
const uint PITCH = LINE + 1;  // padded, so that writes of neighbours spread over the banks
const uint RIGHT = SLICE * PITCH;             // first word of b's slice
const uint BOTH = 2 * SLICE * PITCH;          // words of a slice of a and b
const uint FETCH = TILE * SLICE / 4 / GROUP;  // words of an operand per invocation

shared vec4 slices[2 * BOTH];

float sum[THREAD * THREAD];  // the invocation's part of the tile

// Operand whose element (row, t) is x[begin + row · stride.x + t · stride.y].
struct Operand {
    In x;
    uint begin;
    uvec2 stride;
    uint row0, rows;  // first row of the tile, and number of rows of the matrix
};

uint bytes(uint form) { return packed(form) ? 2 : 4; }  // per element

// First element, (row of the tile, t), of the i-th word of a slice that this invocation fetches. Neighbouring
// invocations fetch neighbouring words in memory.
uvec2 word_at(uint i, bool along_k) {
    const uint word = gl_LocalInvocationID.x + i * GROUP;
    return along_k ? uvec2(word / (SLICE / 4), word % (SLICE / 4) * 4) : uvec2(word % LINE * 4, word / LINE);
}

// Byte offset of the invocation's first word from the tile's first element of the slice, and number of rows after it.
struct Place {
    uint offset, room;
};

Place first_word(Operand of, uint form, bool along_k, bool aligned) {
    const uint access = along_k || form == SCALAR ? 1 : aligned ? 4 : 2;  // rows per load; the first is inside
    const uvec2 at = word_at(0, along_k);
    const uint last = (of.rows - 1) / access * access - of.row0, row = min(at.x, last);
    return Place((row * of.stride.x + at.y * of.stride.y) * bytes(form), last - row);
}

// Loads a word of four neighbours at the byte offsets `at`, in their format in memory.
uvec4 load_four(uint form, bool aligned, uint64_t base, uvec4 at) {
    if (packed(form) && aligned) return uvec4(unpackUint2x32(InWide(base + at.x).at[0]), 0, 0);
    if (packed(form)) return uvec4(InWord(base + at.x).at[0], InWord(base + at.z).at[0], 0, 0);
    if (aligned) return floatBitsToUint(InAligned4(base + at.x).at[0]);
    if (form == VEC2)
        return uvec4(unpackUint2x32(InWide(base + at.x).at[0]), unpackUint2x32(InWide(base + at.z).at[0]));
    return uvec4(InWord(base + at.x).at[0], InWord(base + at.y).at[0], InWord(base + at.z).at[0],
                 InWord(base + at.w).at[0]);
}

vec4 unpack(uvec4 word, uint form) {
    return packed(form) ? vec4(unpack(word.x, form), unpack(word.y, form)) : uintBitsToFloat(word);
}

// Loads the invocation's words of the whole slice at k0.
void fetch(Operand of, uint form, bool along_k, bool aligned, uint k0, Place place, out uvec4 next[FETCH]) {
    const uint begin = of.begin + of.row0 * of.stride.x + k0 * of.stride.y;
    const uint64_t base = uint64_t(of.x) + uint64_t(begin) * bytes(form);  // the same for all invocations
    [[unroll]] for (uint i = 0; i < FETCH; ++i) {
        if (along_k) {  // the invocation's words are in different rows
            const uint at = place.offset + min(i * (GROUP * 4 / SLICE), place.room) * of.stride.x * bytes(form);
            next[i] = load_four(form, aligned, base + at, uvec4(0, 1, 2, 3) * bytes(form));
        } else {  // the elements of a word are in different rows
            const uvec4 at = place.offset + min(uvec4(0, 1, 2, 3), place.room) * bytes(form);
            next[i] = load_four(form, aligned, base + i * (GROUP / LINE) * of.stride.y * bytes(form), at);
        }
    }
}

// Stores the invocation's words to shared memory, where a line has the rows of one k.
void stage(uint begin, uint form, bool along_k, uvec4 next[FETCH], bool scaled, uint batch, uint k0) {
    [[unroll]] for (uint i = 0; i < FETCH; ++i) {
        const uvec2 at = word_at(i, along_k);
        const uint to = begin + at.y * PITCH + at.x / 4;
        const vec4 word = (scaled ? k_scale(batch, k0 + at.y) : 1.0) * unpack(next[i], form);
        if (along_k)
            [[unroll]] for (uint j = 0; j < 4; ++j) slices[to + j * PITCH][at.x % 4] = word[j];
        else
            slices[to] = word;
    }
}

// Element (row, t) of the operand; row 0 is the tile's first.
float load_element(Operand of, uint form, uint row, uint t) {
    const uint at = min(of.row0 + row, of.rows - 1) * of.stride.x + t * of.stride.y;
    return load_one(of.x, of.begin + at, form);
}

// Adds the first `terms` terms of the slices from `begin` on.
void multiply(uint begin, uint terms, uint my_row, uint my_column) {
    const uint row = begin + my_row, column = begin + RIGHT + my_column;
    [[unroll]] for (uint t = 0; t < terms; ++t) {
        vec4 z[BLOCKS];
        [[unroll]] for (uint j = 0; j < BLOCKS; ++j) z[j] = slices[column + t * PITCH + j * SIDE];
        [[unroll]] for (uint i = 0; i < THREAD; i += 4) {
            const vec4 x = slices[row + t * PITCH + i / 4 * SIDE];
            [[unroll]] for (uint e = 0; e < 4; ++e)
                [[unroll]] for (uint j = 0; j < THREAD; ++j) sum[(i + e) * THREAD + j] += x[e] * z[j / 4][j % 4];
        }
    }
}

void main() {
    const uint across = (n + TILE - 1) / TILE;
    const uint tiles = across * ((m + TILE - 1) / TILE);
    const uint part = group_index() / tiles;
    if (part >= batches * splits) return;  // the whole workgroup
    const uint row0 = group_index() % tiles / across * TILE;
    const uint column0 = group_index() % tiles % across * TILE;
    const uint batch = part / splits;
    const uint k_begin = part_k_begin(part), k_end = part_k_end(part);
    const uint k_whole = k_end - (k_end - k_begin) % SLICE;
    const uint my_column = gl_LocalInvocationID.x % SIDE;  // words
    const uint my_row = gl_LocalInvocationID.x / SIDE;
    Operand of_a = Operand(a, batch * a_batch, TRANSPOSE_A ? uvec2(1, a_pitch) : uvec2(a_pitch, 1), row0, m);
    Operand of_b = Operand(b, batch * b_batch, TRANSPOSE_B ? uvec2(b_pitch, 1) : uvec2(1, b_pitch), column0, n);

    [[unroll]] for (uint i = 0; i < THREAD * THREAD; ++i) sum[i] = 0.0;
    const Place at_a = first_word(of_a, LAYOUT_A, !TRANSPOSE_A, ALIGNED_A);
    const Place at_b = first_word(of_b, LAYOUT_B, TRANSPOSE_B, ALIGNED_B);
    uvec4 next_a[FETCH];
    uvec4 next_b[FETCH];
    uint to = 0;  // first word of the next slices
    if (k_begin < k_whole) {
        fetch(of_a, LAYOUT_A, !TRANSPOSE_A, ALIGNED_A, k_begin, at_a, next_a);
        fetch(of_b, LAYOUT_B, TRANSPOSE_B, ALIGNED_B, k_begin, at_b, next_b);
        for (uint k0 = k_begin; k0 < k_whole; k0 += SLICE) {
            stage(to, LAYOUT_A, !TRANSPOSE_A, next_a, SCALE_K, batch, k0);
            stage(to + RIGHT, LAYOUT_B, TRANSPOSE_B, next_b, false, batch, k0);
            barrier();
            // The last iteration loads the last slice again, because compilers wait for loads at branches.
            const uint from = min(k0 + SLICE, k_whole - SLICE);
            fetch(of_a, LAYOUT_A, !TRANSPOSE_A, ALIGNED_A, from, at_a, next_a);
            fetch(of_b, LAYOUT_B, TRANSPOSE_B, ALIGNED_B, from, at_b, next_b);
            multiply(to, SLICE, my_row, my_column);
            to = BOTH - to;
        }
    }
    if (k_whole < k_end) {
        const uint row = gl_LocalInvocationID.x % TILE;
        for (uint t = gl_LocalInvocationID.x / TILE; t < k_end - k_whole; t += GROUP / TILE) {
            const uint at = to + t * PITCH + row / 4;
            slices[at][row % 4] = k_scale(batch, k_whole + t) * load_element(of_a, LAYOUT_A, row, k_whole + t);
            slices[at + RIGHT][row % 4] = load_element(of_b, LAYOUT_B, row, k_whole + t);
        }
        barrier();
        multiply(to, k_end - k_whole, my_row, my_column);
    }

    [[unroll]] for (uint i = 0; i < THREAD; ++i) {
        const uint row = row0 + (i / 4 * SIDE + my_row) * 4 + i % 4;
        if (row < m) {
            const float factor = y_scale(batch, row);
            [[unroll]] for (uint j = 0; j < THREAD; j += 2) {
                const uint column = column0 + (j / 4 * SIDE + my_column) * 4 + j % 4;
                if (column < n) {
                    const bool two = column + 1 < n;
                    const uint from = batch * aux_batch + row * aux_pitch + column;
                    const vec2 more = load_aux(from, two);
                    vec2 v = vec2(finish(sum[i * THREAD + j], BIAS ? bias.at[column] : 0.0, factor, more.x), 0.0);
                    if (two) v.y = finish(sum[i * THREAD + j + 1], BIAS ? bias.at[column + 1] : 0.0, factor, more.y);
                    store_some(y, part * y_batch + row * y_pitch + column, v, two, LAYOUT_Y);
                }
            }
        }
    }
}
