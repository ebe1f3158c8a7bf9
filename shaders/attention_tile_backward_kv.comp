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

#define ARGS In lse; In g; In delta; In addend; Out dk; Out dv; uint dk_pitch; uint dv_pitch;
#include "lib/attention_args.glsl"

// Of the queries met.
shared float tile_lse[TILE];
shared float tile_delta[TILE];
shared uint tile_word[DROPOUT ? TILE : 1];

void main() {
    const uint blocks = (keys + ROWS - 1) / ROWS;
    const uint key_heads = HEADS / GQA_GROUP;
    const uint key_head = group_index() / blocks % key_heads;
    const uint batch = group_index() / blocks / key_heads;
    if (batch >= batches) return;  // the whole workgroup
    const uint first = fair_block(group_index() % blocks, blocks) * ROWS;
    const MaskRow mask = mask_row(batch);
    const uvec2 visitors = queries_of(mask, first, ROWS);

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
    [[dont_unroll]] for (uint head = key_head * GQA_GROUP; head < (key_head + 1) * GQA_GROUP; ++head) {
        const uint batch_head = batch * HEADS + head;
        const uint q_base = batch * queries * q_pitch + head * D;
        const uint g_base = batch * queries * g_pitch + head * D;
        uint row_word[HEIGHT];
        [[unroll]] for (uint i = 0; i < HEIGHT; ++i)
            if (DROPOUT) row_word[i] = key_word(batch_head, first + tile_row(i));

        vec4 next[FETCH];
        if (visitors.x < visitors.y) fetch(0, q, q_base, q_pitch, visitors.x, mask.queries, next);
        for (uint start = visitors.x; start < visitors.y; start += TILE) {
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
                        const uint at = batch_head * queries + min(start + j, mask.queries - 1);
                        tile_lse[j] = lse.at[at];
                        tile_delta[j] = delta.at[at];
                        if (DROPOUT) tile_word[j] = query_word(batch_head, start + j);
                    }
                barrier();
                if (s + 1 < SLICES) fetch(s + 1, q, q_base, q_pitch, start, mask.queries, next);
                else fetch(0, g, g_base, g_pitch, start, mask.queries, next);
                dot_slice(0, s, p);
            }
            [[dont_unroll]] for (uint s = 0; s < SLICES; ++s) {
                barrier();
                stage(next, 1.0);
                if (!WHOLE) hold(1, s, v, v_base, v_pitch, first, keys, 1.0);
                barrier();
                if (SLICES > 1) fetch((s + 1) % SLICES, g, g_base, g_pitch, start, mask.queries, next);
                dot_slice(1, s, ds);
            }
            [[unroll]] for (uint i = 0; i < HEIGHT; ++i)
                [[unroll]] for (uint j = 0; j < 4; ++j) {
                    const uint column = tile_column() + j, query = start + column;
                    const int position = int(query) + mask.shift;
                    const bool seen = query < visitors.y && visible(int(first + tile_row(i)), position);
                    const float e = exp2_below(p[i][j] - tile_lse[column]);
                    const float keep = DROPOUT ? kept(tile_word[column], row_word[i]) : 1.0;
                    const float shown = e * keep, d_logit = e * (ds[i][j] * keep - tile_delta[column]);
                    p[i][j] = seen ? shown : 0.0;
                    ds[i][j] = seen && !lone(mask, position) ? d_logit : 0.0;
                }
            give(p);
            [[unroll]] for (uint s = 0; s < SLICES; ++s) {  // g's only slice is still there
                barrier();
                if (SLICES > 1) {
                    stage(next, 1.0);
                    barrier();
                }
                if (s + 1 < SLICES) fetch(s + 1, g, g_base, g_pitch, start, mask.queries, next);
                else fetch(0, q, q_base, q_pitch, start, mask.queries, next);
                add_slice(s, visitors.y - start, v_sum);
            }
            barrier();
            give(ds);
            [[unroll]] for (uint s = 0; s < SLICES; ++s) {
                barrier();
                stage(next, in_base_2);
                barrier();
                if (s + 1 < SLICES) fetch(s + 1, q, q_base, q_pitch, start, mask.queries, next);
                else if (start + TILE < visitors.y) fetch(0, q, q_base, q_pitch, start + TILE, mask.queries, next);
                add_slice(s, visitors.y - start, k_sum);
            }
        }
    }
    store_rows(k_sum, LN_2, dk, batch * keys * dk_pitch + key_head * D, dk_pitch, first, keys);
    store_rows(v_sum, 1.0, dv, batch * keys * dv_pitch + key_head * D, dv_pitch, first, keys, ADDEND, addend,
               (batch * keys * key_heads + key_head) * D, key_heads * D);
}
