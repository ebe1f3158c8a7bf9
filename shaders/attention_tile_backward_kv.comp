// attention_backward_kv.comp for GPUs:
//     dv_j = Σ_i p_ij g_i + addend_j,   dk_j = scale Σ_i p_ij (<g_i, v_j> - delta_i) q_i.
//
// Shapes: as attention_backward_kv.comp.
// Owner: a workgroup makes ROWS rows of one key head, over all query heads that read it, in a fixed order: heads
//   outside, query tiles inside. Query tiles before the causal edge are not visited.
#version 460
#define FACTORS 2  // k, v
#include "lib/args.glsl"
#include "lib/attention_tile.glsl"

layout(constant_id = 8) const bool ADDEND = false;  // dense, as dv

layout(push_constant, scalar) uniform Args {
    In q;
    In k;
    In v;
    In lse;
    In g;
    In delta;
    In addend;
    Out dk;
    Out dv;
    InInt seed;
    uint batches;
    uint queries;
    uint keys;
    uint q_pitch;
    uint k_pitch;
    uint v_pitch;
    uint dk_pitch;
    uint dv_pitch;
    float scale;
    float drop;
    uint salt;
};

#include "lib/attention_mask.glsl"

// Of the queries met.
shared float tile_lse[TILE];
shared float tile_delta[TILE];
shared uint tile_word[DROPOUT ? TILE : 1];

void main() {
    const uint blocks = (keys + ROWS - 1) / ROWS;
    const uint key_heads = HEADS / SHARE;
    const uint key_head = group_index() / blocks % key_heads;
    const uint batch = group_index() / blocks / key_heads;
    if (batch >= batches) return;  // the whole workgroup
    const uint first = fair_block(group_index() % blocks, blocks) * ROWS;
    const int shift = int(keys) - int(queries);
    const uint begin = CAUSAL ? uint(max(int(first) - shift, 0)) : 0;

    const float in_base_2 = scale * LOG2_E;
    const uint k_base = batch * keys * k_pitch + key_head * D;
    const uint v_base = batch * keys * v_pitch + key_head * D;
    const uint g_pitch = HEADS * D;
    vec4 k_sum[SUMS];
    vec4 v_sum[SUMS];
    clear(k_sum);
    clear(v_sum);
    if (WHOLE) {
        hold(0, 0, k, k_base, k_pitch, first, keys, 1.0);
        hold(1, 0, v, v_base, v_pitch, first, keys, 1.0);
    }
    [[dont_unroll]] for (uint head = key_head * SHARE; head < (key_head + 1) * SHARE; ++head) {
        const uint plane = batch * HEADS + head;
        const uint q_base = batch * queries * q_pitch + head * D;
        const uint g_base = batch * queries * g_pitch + head * D;
        uint row_word[HEIGHT];
        [[unroll]] for (uint i = 0; i < HEIGHT; ++i)
            if (DROPOUT) row_word[i] = key_word(plane, first + tile_row(i));

        vec4 next[FETCH];
        fetch(0, q, q_base, q_pitch, begin, queries, next);
        for (uint start = begin; start < queries; start += TILE) {
            vec4 p[HEIGHT];
            vec4 ds[HEIGHT];
            clear_tile(p);
            clear_tile(ds);
            [[dont_unroll]] for (uint s = 0; s < SLICES; ++s) {
                barrier();
                // The same numbers in the same order as in the other kernels: a lone key's probability is exactly 1.
                stage(next, in_base_2);
                if (!WHOLE) hold(0, s, k, k_base, k_pitch, first, keys, 1.0);
                if (s == 0)
                    for (uint j = place(); j < TILE; j += GROUP) {
                        const uint at = plane * queries + min(start + j, queries - 1);
                        tile_lse[j] = lse.at[at];
                        tile_delta[j] = delta.at[at];
                        if (DROPOUT) tile_word[j] = query_word(plane, start + j);
                    }
                barrier();
                if (s + 1 < SLICES) fetch(s + 1, q, q_base, q_pitch, start, queries, next);
                else fetch(0, g, g_base, g_pitch, start, queries, next);
                dot_slice(0, s, p);
            }
            [[dont_unroll]] for (uint s = 0; s < SLICES; ++s) {
                barrier();
                stage(next, 1.0);
                if (!WHOLE) hold(1, s, v, v_base, v_pitch, first, keys, 1.0);
                barrier();
                if (SLICES > 1) fetch((s + 1) % SLICES, g, g_base, g_pitch, start, queries, next);
                dot_slice(1, s, ds);
            }
            [[unroll]] for (uint i = 0; i < HEIGHT; ++i)
                [[unroll]] for (uint j = 0; j < 4; ++j) {
                    const uint column = tile_column() + j, query = start + column;
                    const int position = int(query) + shift;
                    const bool seen = query < queries && visible(int(first + tile_row(i)), position);
                    const float e = exp2_below(p[i][j] - tile_lse[column]);
                    const float keep = DROPOUT ? kept(tile_word[column], row_word[i]) : 1.0;
                    const float shown = e * keep, d_logit = e * (ds[i][j] * keep - tile_delta[column]);
                    p[i][j] = seen ? shown : 0.0;
                    ds[i][j] = seen && !lone(position) ? d_logit : 0.0;
                }
            give(p);
            [[unroll]] for (uint s = 0; s < SLICES; ++s) {  // g's only slice is still there
                barrier();
                if (SLICES > 1) {
                    stage(next, 1.0);
                    barrier();
                }
                if (s + 1 < SLICES) fetch(s + 1, g, g_base, g_pitch, start, queries, next);
                else fetch(0, q, q_base, q_pitch, start, queries, next);
                add_slice(s, queries - start, v_sum);
            }
            barrier();
            give(ds);
            [[unroll]] for (uint s = 0; s < SLICES; ++s) {
                barrier();
                stage(next, in_base_2);
                barrier();
                if (s + 1 < SLICES) fetch(s + 1, q, q_base, q_pitch, start, queries, next);
                else if (start + TILE < queries) fetch(0, q, q_base, q_pitch, start + TILE, queries, next);
                add_slice(s, queries - start, k_sum);
            }
        }
    }
    store_rows(k_sum, LN_2, dk, batch * keys * dk_pitch + key_head * D, dk_pitch, first, keys);
    store_rows(v_sum, 1.0, dv, batch * keys * dv_pitch + key_head * D, dv_pitch, first, keys, ADDEND, addend,
               (batch * keys * key_heads + key_head) * D, key_heads * D);
}
