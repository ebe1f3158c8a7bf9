// dk and dv of attention (FlashAttention-2, algorithm 2, with loops exchanged so that no sum needs an atomic):
//     dv_j = Σ_i p_ij g_i + addend_j,   dk_j = scale Σ_i p_ij (<g_i, v_j> - delta_i) q_i.
//
// Shapes: as attention_backward_q.comp, whose delta is read; dk [B,S,N·D] and dv [B,S,N·D_V] with their own pitches.
// Owner: one subgroup computes ROWS_PER_LANE · SUBGROUP rows of one key head, over all query heads that read it, in a
//   fixed order: heads outside, queries inside. Queries that see none of the rows are skipped unless they share a block
//   with others.
#version 460
#include "lib/args.glsl"
#include "attention/attention.glsl"

layout(constant_id = 8) const bool ADDEND = false;  // of dv's shape, dense

#define ARGS In lse; In g; In delta; In addend; Out dk; Out dv; uint dk_pitch; uint dv_pitch;
#include "attention/attention_args.glsl"

void main() {
    const uint blocks = (keys + ROWS - 1) / ROWS;
    const uint key_heads = HEADS / GQA_GROUP;
    const uint index = group_index() * (GROUP / SUBGROUP) + gl_SubgroupID;
    const uint key_head = index / blocks % key_heads;
    const uint batch = index / blocks / key_heads;
    if (batch >= batches) return;
    const uint first = balanced_block(index % blocks, blocks) * ROWS;
    const MaskRow mask = mask_row(batch);

    float k_tile[OWN];
    float v_tile[OWN];
    float k_sum[OWN];
    float v_sum[OWN];
    load_own(k, D, batch * keys * k_pitch + key_head * D, k_pitch, first, keys, k_tile);
    load_own(v, D_V, batch * keys * v_pitch + key_head * D_V, v_pitch, first, keys, v_tile);
    [[unroll]] for (uint i = 0; i < ROWS_PER_LANE * D; ++i) k_sum[i] = 0.0;
    [[unroll]] for (uint i = 0; i < ROWS_PER_LANE * D_V; ++i) v_sum[i] = 0.0;
    const float in_base_2 = scale * LOG2_E;
    [[dont_unroll]] for (uint head = key_head * GQA_GROUP; head < (key_head + 1) * GQA_GROUP; ++head) {
        const uint batch_head = batch * HEADS + head;
        const uint q_base = batch * queries * q_pitch + head * D;
        const uint g_base = batch * queries * HEADS * D_V + head * D_V;
        uint row_word[ROWS_PER_LANE];
        [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r)
            if (DROPOUT) row_word[r] = key_word(batch_head, own_row(first, r));

        uvec2 visitors = queries_of(mask, first, ROWS, BLOCK_K);
        [[dont_unroll]] for (; visitors.x < visitors.y; visitors = next_queries(visitors, mask, first, ROWS, BLOCK_K)) {
            const uint start = visitors.x;
            const uint lane_query = batch_head * queries + min(start + lane(), mask.queries - 1);
            const float lane_lse = lse.at[lane_query];
            const float lane_delta = delta.at[lane_query];
            const uint word = DROPOUT ? query_word(batch_head, start + lane()) : 0;
            float q_tile[BLOCK];
            float g_tile[BLOCK];
            float p[TILE];
            float ds[TILE];
            load_block(q, D, q_base, q_pitch, start, mask.queries, q_tile);
            // Equal products in equal order as in the other kernels: the probability of a query's only key is 1.
            [[unroll]] for (uint i = 0; i < BLOCK; ++i) q_tile[i] *= in_base_2;
            dot_rows(D, k_tile, q_tile, p);
            load_block(g, D_V, g_base, HEADS * D_V, start, mask.queries, g_tile);
            dot_rows(D_V, v_tile, g_tile, ds);
            [[unroll]] for (uint j = 0; j < BLOCK_K; ++j) {
                const uint query = start + j;
                const int position = int(query) + mask.shift;
                const float query_lse = subgroupBroadcast(lane_lse, j);
                const float query_delta = subgroupBroadcast(lane_delta, j);
                const uint query_noise = DROPOUT ? subgroupBroadcast(word, j) : 0;
                [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r) {
                    const uint i = j * ROWS_PER_LANE + r;
                    const bool seen = query < mask.queries && visible(int(own_row(first, r)), position);
                    const float e = exp2_below(p[i] - query_lse);
                    const float keep = DROPOUT ? kept(query_noise, row_word[r]) : 1.0;
                    const float shown = e * keep, d_logit = e * (ds[i] * keep - query_delta);
                    p[i] = seen ? shown : 0.0;
                    ds[i] = seen && !sees_one_key(mask, position) ? d_logit : 0.0;
                }
            }
            add_rows(D_V, p, g_tile, v_sum);
            add_rows(D, ds, q_tile, k_sum);
        }
    }
    [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r) {
        const bool counts = KEY_LENGTHS == 0 || own_row(first, r) < mask.keys;
        scale_row(D, r, counts, LN_2, k_sum);
        scale_row(D_V, r, counts, 1.0, v_sum);
    }
    store_own(dk, D, batch * keys * dk_pitch + key_head * D, dk_pitch, first, keys, k_sum);
    if (ADDEND) {
        load_own(addend, D_V, (batch * keys * key_heads + key_head) * D_V, key_heads * D_V, first, keys, v_tile);
        [[unroll]] for (uint i = 0; i < ROWS_PER_LANE * D_V; ++i) v_sum[i] += v_tile[i];
    }
    store_own(dv, D_V, batch * keys * dv_pitch + key_head * D_V, dv_pitch, first, keys, v_sum);
}
