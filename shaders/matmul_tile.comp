#version 460
// The product of matmul.comp for GPUs: tiles of a and b pass through shared memory.
//
// Shapes, splits: as matmul.comp.
// Owner: a workgroup of (TILE_M / THREAD) · (TILE_N / THREAD) invocations has a tile of y; an
//   invocation has THREAD · THREAD elements in blocks of 4 · 4, spread over the tile so that
//   neighbours read neighbouring words. The next slices of a and b are fetched into registers while
//   the present ones are multiplied.
// Numerics: fp32, each element one running sum in ascending k; elements past an edge count as 0.
#include "lib/matmul.glsl"

layout(constant_id = 7) const uint TILE_M = 64;
layout(constant_id = 8) const uint TILE_N = 64;
layout(constant_id = 9) const uint THREAD = 4;  // a multiple of 4
layout(constant_id = 10) const uint SLICE = 16;  // of k

const uint PITCH_M = TILE_M + 4;  // so that what neighbours write spreads over the banks
const uint PITCH_N = TILE_N + 4;
const uint ACROSS = TILE_N / THREAD;
const uint DOWN = TILE_M / THREAD;
const uint BLOCKS = THREAD / 4;
const uint FETCH_M = (TILE_M * SLICE + GROUP - 1) / GROUP;  // elements per invocation
const uint FETCH_N = (TILE_N * SLICE + GROUP - 1) / GROUP;

shared float left[SLICE * PITCH_M];
shared float right[SLICE * PITCH_N];

// The i-th element (row, t) of a slice that is this invocation's to fetch. Neighbouring invocations
// fetch neighbours in memory.
uvec2 place(uint i, bool along_k, uint tile) {
    const uint e = gl_LocalInvocationID.x + i * GROUP;
    return along_k ? uvec2(e / SLICE, e % SLICE) : uvec2(e % tile, e / tile);
}

// Element (row, t) of op(x), 0 past the ends; op(x) is contiguous along k or along its rows.
float fetch(In x, uint form, bool along_k, uint begin, uint pitch, uvec2 at, uvec2 end) {
    const uvec2 inside = min(at, end - 1);
    const uvec2 stride = along_k ? uvec2(pitch, 1) : uvec2(1, pitch);
    const float v = load_one(x, begin + inside.x * stride.x + inside.y * stride.y, form);
    return inside == at ? v : 0.0;
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
    const uint my_column = gl_LocalInvocationID.x % ACROSS * 4;
    const uint my_row = gl_LocalInvocationID.x / ACROSS * 4;

    float sum[THREAD * THREAD];
    [[unroll]] for (uint i = 0; i < THREAD * THREAD; ++i) sum[i] = 0.0;
    float next_left[FETCH_M];
    float next_right[FETCH_N];
    for (uint k0 = k_begin;; k0 += SLICE) {
        if (k0 < k_end) {
            [[unroll]] for (uint i = 0; i < FETCH_M; ++i) {
                const uvec2 at = place(i, !TRANSPOSE_A, TILE_M);
                const uvec2 to = uvec2(row0, k0) + at;
                next_left[i] = k_scale(batch, min(to.y, k_end - 1)) *
                    fetch(a, LAYOUT_A, !TRANSPOSE_A, a_begin, a_pitch, to, uvec2(m, k_end));
            }
            [[unroll]] for (uint i = 0; i < FETCH_N; ++i) {
                const uvec2 at = place(i, TRANSPOSE_B, TILE_N);
                const uvec2 to = uvec2(column0, k0) + at;
                next_right[i] = fetch(b, LAYOUT_B, TRANSPOSE_B, b_begin, b_pitch, to, uvec2(n, k_end));
            }
        }
        if (k0 > k_begin) {
            for (uint t = 0; t < SLICE; ++t) {
                float x[THREAD];
                float z[THREAD];
                [[unroll]] for (uint i = 0; i < THREAD; ++i) {
                    x[i] = left[t * PITCH_M + i / 4 * (DOWN * 4) + my_row + i % 4];
                    z[i] = right[t * PITCH_N + i / 4 * (ACROSS * 4) + my_column + i % 4];
                }
                [[unroll]] for (uint i = 0; i < THREAD; ++i) {
                    [[unroll]] for (uint j = 0; j < THREAD; ++j)
                        sum[i * THREAD + j] += x[i] * z[j];
                }
            }
        }
        if (k0 >= k_end) break;
        barrier();  // everyone is done with the previous slices
        [[unroll]] for (uint i = 0; i < FETCH_M; ++i) {
            const uvec2 at = place(i, !TRANSPOSE_A, TILE_M);
            if (at.x < TILE_M && at.y < SLICE) left[at.y * PITCH_M + at.x] = next_left[i];
        }
        [[unroll]] for (uint i = 0; i < FETCH_N; ++i) {
            const uvec2 at = place(i, TRANSPOSE_B, TILE_N);
            if (at.x < TILE_N && at.y < SLICE) right[at.y * PITCH_N + at.x] = next_right[i];
        }
        barrier();
    }

    [[unroll]] for (uint i = 0; i < THREAD; ++i) {
        const uint row = row0 + i / 4 * (DOWN * 4) + my_row + i % 4;
        if (row < m) {
            const float factor = y_scale(batch, row);
            [[unroll]] for (uint j = 0; j < THREAD; j += 2) {
                const uint column = column0 + j / 4 * (ACROSS * 4) + my_column + j % 4;
                if (column < n) {
                    const bool two = column + 1 < n;
                    const uint from = batch * addend_batch + row * addend_pitch + column;
                    vec2 v = vec2(finish(sum[i * THREAD + j], BIAS ? bias.at[column] : 0.0, factor, from), 0.0);
                    if (two) v.y = finish(sum[i * THREAD + j + 1], BIAS ? bias.at[column + 1] : 0.0, factor, from + 1);
                    store_some(y, part * y_batch + row * y_pitch + column, v, two, LAYOUT_Y);
                }
            }
        }
    }
}
