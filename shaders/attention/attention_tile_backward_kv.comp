// attention_backward_kv.comp for GPUs:
//     dv_j = Σ_i p_ij g_i + addend_j,   dk_j = scale Σ_i p_ij (<g_i, v_j> - delta_i) q_i.
//
// Shapes: as attention_backward_kv.comp.
// Owner: a workgroup computes ROWS rows of one key head, over all query heads that read it, in a fixed order: heads
//   outside, queries inside. Queries that see none of the rows are skipped unless they share a block with others.
#version 460
#define FACTORS 2  // k, v
#include "lib/args.glsl"
#include "attention/attention_tile.glsl"

layout(constant_id = 8) const bool ADDEND = false;  // of dv's shape, dense

#define ARGS In lse; In g; In delta; In addend; Out dk; Out dv; uint dk_pitch; uint dv_pitch;
#include "attention/attention_args.glsl"

// Values of the block's queries.
shared float block_lse[BLOCK_K];
shared float block_delta[BLOCK_K];
shared uint block_word[DROPOUT ? BLOCK_K : 1];

void main() {
    const uint blocks = (keys + ROWS - 1) / ROWS;
    const uint key_heads = HEADS / GQA_GROUP;
    const uint key_head = group_index() / blocks % key_heads;
    const uint batch = group_index() / blocks / key_heads;
    if (batch >= batches) return;  // the whole workgroup
    const uint first = balanced_block(group_index() % blocks, blocks) * ROWS;
    const MaskRow mask = mask_row(batch);

    const float in_base_2 = scale * LOG2_E;
    const uint k_base = batch * keys * k_pitch + key_head * D;
    const uint v_base = batch * keys * v_pitch + key_head * D_V;
    const uint g_pitch = HEADS * D_V;
    vec4 k_sum[SUMS];
    vec4 v_sum[SUMS];
    clear(k_sum);
    clear(v_sum);
    if (WHOLE) {
        load_own(QK, 0, k, k_base, k_pitch, first, keys, 1.0);
        load_own(VO, 0, v, v_base, v_pitch, first, keys, 1.0);
    }
    [[dont_unroll]] for (uint head = key_head * GQA_GROUP; head < (key_head + 1) * GQA_GROUP; ++head) {
        const uint batch_head = batch * HEADS + head;
        const uint q_base = batch * queries * q_pitch + head * D;
        const uint g_base = batch * queries * g_pitch + head * D_V;
        uint row_word[HEIGHT];
        [[unroll]] for (uint i = 0; i < HEIGHT; ++i)
            if (DROPOUT) row_word[i] = key_word(batch_head, first + tile_row(i));

        uvec2 visitors = queries_of(mask, first, ROWS, BLOCK_K), following;
        vec4 next[FETCH];
        if (visitors.x < visitors.y) fetch(QK, 0, q, q_base, q_pitch, visitors.x, mask.queries, next);
        for (; visitors.x < visitors.y; visitors = following) {
            const uint start = visitors.x;
            following = next_queries(visitors, mask, first, ROWS, BLOCK_K);
            vec4 p[HEIGHT];
            vec4 ds[HEIGHT];
            clear_tile(p);
            clear_tile(ds);
            [[dont_unroll]] for (uint s = 0; s < SLICES; ++s) {
                barrier();
                // Equal products in equal order as in the other kernels: the probability of a query's only key is 1.
                stage(next, in_base_2);
                if (!WHOLE) load_own(QK, s, k, k_base, k_pitch, first, keys, 1.0);
                if (s == 0)
                    for (uint j = place(); j < BLOCK_K; j += GROUP) {
                        const uint at = batch_head * queries + min(start + j, mask.queries - 1);
                        block_lse[j] = lse.at[at];
                        block_delta[j] = delta.at[at];
                        if (DROPOUT) block_word[j] = query_word(batch_head, start + j);
                    }
                barrier();
                if (s + 1 < SLICES) fetch(QK, s + 1, q, q_base, q_pitch, start, mask.queries, next);
                else fetch(VO, 0, g, g_base, g_pitch, start, mask.queries, next);
                dot_slice(QK, s, p);
            }
            [[dont_unroll]] for (uint s = 0; s < SLICES_V; ++s) {
                barrier();
                stage(next, 1.0);
                if (!WHOLE) load_own(VO, s, v, v_base, v_pitch, first, keys, 1.0);
                barrier();
                if (SLICES_V > 1) fetch(VO, (s + 1) % SLICES_V, g, g_base, g_pitch, start, mask.queries, next);
                dot_slice(VO, s, ds);
            }
            [[unroll]] for (uint i = 0; i < HEIGHT; ++i)
                [[unroll]] for (uint j = 0; j < 4; ++j) {
                    const uint column = tile_column() + j;
                    const float e = weight_below(p[i][j] - block_lse[column]);
                    const float keep = DROPOUT ? kept(block_word[column], row_word[i]) : 1.0;
                    p[i][j] = e * keep;
                    ds[i][j] = e * (ds[i][j] * keep - block_delta[column]);
                }
            if (!all_visible(mask, start, BLOCK_K, first, ROWS))
                [[unroll]] for (uint i = 0; i < HEIGHT; ++i)
                    [[unroll]] for (uint j = 0; j < 4; ++j) {
                        const uint query = start + tile_column() + j;
                        const int position = int(query) + mask.shift;
                        const bool seen = query < visitors.y && visible(int(first + tile_row(i)), position);
                        p[i][j] = seen ? p[i][j] : 0.0;
                        ds[i][j] = seen && !sees_one_key(mask, position) ? ds[i][j] : 0.0;
                    }
            if (!WHOLE) barrier();  // the weights replace the slice
            store_tile(p);
            [[unroll]] for (uint s = 0; s < SLICES_V; ++s) {  // g's only slice is still there
                barrier();
                if (SLICES_V > 1) {
                    stage(next, 1.0);
                    barrier();
                }
                if (s + 1 < SLICES_V) fetch(VO, s + 1, g, g_base, g_pitch, start, mask.queries, next);
                else fetch(QK, 0, q, q_base, q_pitch, start, mask.queries, next);
                add_slice(s, visitors.y - start, v_sum);
            }
            barrier();
            store_tile(ds);
            [[unroll]] for (uint s = 0; s < SLICES; ++s) {
                barrier();
                stage(next, in_base_2);
                barrier();
                if (s + 1 < SLICES) fetch(QK, s + 1, q, q_base, q_pitch, start, mask.queries, next);
                else if (following.x < following.y)
                    fetch(QK, 0, q, q_base, q_pitch, following.x, mask.queries, next);
                add_slice(s, visitors.y - start, k_sum);
            }
        }
    }
    if (KEY_LENGTHS > 0) {
        clear_rows(first, mask.keys, k_sum);
        clear_rows(first, mask.keys, v_sum);
    }
    store_sums(QK, k_sum, LN_2, dk, batch * keys * dk_pitch + key_head * D, dk_pitch, first, keys, LAYOUT);
    store_sums(VO, v_sum, 1.0, dv, batch * keys * dv_pitch + key_head * D_V, dv_pitch, first, keys, ADDEND, addend,
               (batch * keys * key_heads + key_head) * D_V, key_heads * D_V, LAYOUT);
}
