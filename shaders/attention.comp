// o = softmax(scale q kᵀ) v by blocks of query rows, the running maximum subtracted (FlashAttention-2,
// algorithm 1; BeliefFormer eq 6-9).
//
// Shapes: q [B,T,M·D], k [B,S,N·D], v [B,S,N·D_V], each with its pitch; o [B,T,M·D_V] and lse [B,M,T] dense. Query head
//   m reads key head m / GQA_GROUP. Who sees whom: lib/attention_mask.glsl.
// Owner: one subgroup makes ROWS_PER_LANE · SUBGROUP rows of one head of o. Keys that none of them sees are not
//   visited, but for those in a block with others.
// Before o is stored it may be compared with, or projected on, the queries' own values (lib/attention_epilogue.glsl).
// Numerics: fp32; exponents of differences. Logits and lse are in base 2: what is raised is 2, not e. A row that sees
//   no key: o = 0 and lse = +inf, which makes the backward pass's 2^(s - lse) zero.
#version 460
#include "lib/args.glsl"
#include "lib/attention.glsl"
#include "lib/attention_epilogue.glsl"

#define ARGS Out o; Out lse; EPILOGUE_ARGS
#include "lib/attention_args.glsl"

void main() {
    const uint blocks = (queries + ROWS - 1) / ROWS;
    const uint index = group_index() * (GROUP / SUBGROUP) + gl_SubgroupID;
    const uint head = index / blocks % HEADS;
    const uint batch = index / blocks / HEADS;
    if (batch >= batches) return;
    const uint first = fair_block(index % blocks, blocks) * ROWS;
    const uint batch_head = batch * HEADS + head;
    const MaskRow mask = mask_row(batch);
    const uvec2 visited = keys_of(mask, first, ROWS);

    float q_tile[OWN];
    float sum[OWN];
    float weight[ROWS_PER_LANE];  // sum of the row's exponentials so far
    float top[ROWS_PER_LANE];
    uint row_word[ROWS_PER_LANE];
    load_own(q, D, batch * queries * q_pitch + head * D, q_pitch, first, queries, q_tile);
    const float in_base_2 = scale * LOG2_E;
    [[unroll]] for (uint i = 0; i < ROWS_PER_LANE * D; ++i) q_tile[i] *= in_base_2;
    [[unroll]] for (uint i = 0; i < ROWS_PER_LANE * D_V; ++i) sum[i] = 0.0;
    [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r) {
        weight[r] = 0.0;
        top[r] = LOWEST;
        if (DROPOUT) row_word[r] = query_word(batch_head, own_row(first, r));
    }

    const uint k_base = batch * keys * k_pitch + head / GQA_GROUP * D;
    const uint v_base = batch * keys * v_pitch + head / GQA_GROUP * D_V;
    [[dont_unroll]] for (uint start = visited.x; start < visited.y; start += BLOCK_K) {
        float kv_tile[BLOCK];
        float p[TILE];
        load_block(k, D, k_base, k_pitch, start, mask.keys, kv_tile);
        dot_rows(D, q_tile, kv_tile, p);
        const uint word = DROPOUT ? key_word(batch_head, start + lane()) : 0;
        [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r) {
            float highest = top[r];
            [[unroll]] for (uint j = 0; j < BLOCK_K; ++j) {
                const uint key = start + j;
                const bool seen = key < mask.keys && visible(int(key), int(own_row(first, r)) + mask.shift);
                const float x = p[j * ROWS_PER_LANE + r];
                p[j * ROWS_PER_LANE + r] = seen ? x : HIDDEN;
                highest = larger(p[j * ROWS_PER_LANE + r], highest);
            }
            const float less = exp2_below(top[r] - highest);
            top[r] = highest;
            weight[r] *= less;
            [[unroll]] for (uint j = 0; j < BLOCK_K; ++j) {
                const float e = exp2_below(p[j * ROWS_PER_LANE + r] - highest);
                weight[r] += e;
                p[j * ROWS_PER_LANE + r] = DROPOUT ? e * kept(row_word[r], subgroupBroadcast(word, j)) : e;
            }
            [[unroll]] for (uint d = 0; d < D_V; ++d) sum[r * D_V + d] *= less;
        }
        load_block(v, D_V, v_base, v_pitch, start, mask.keys, kv_tile);
        add_rows(D_V, p, kv_tile, sum);
    }

    if (EPILOGUE > 0)
        load_own(own_v, D_V, batch * queries * own_pitch + head * D_V, own_pitch, first, queries, q_tile, LAYOUT_OWN);
    [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r) {
        const uint row = own_row(first, r);
        const bool some = weight[r] > 0.0 && (!QUERY_LENGTHS || row < mask.queries);
        scale_row(D_V, r, !QUERY_LENGTHS || some, some ? 1.0 / weight[r] : 0.0, sum);
        if (row < queries)
            lse.at[batch_head * queries + row] = some ? top[r] + log2(weight[r]) : uintBitsToFloat(0x7F800000);
        if (EPILOGUE > 0) {
            float o_v = 0.0, v_v = 0.0;
            [[unroll]] for (uint i = r * D_V; i < (r + 1) * D_V; ++i) {
                o_v += sum[i] * q_tile[i];
                v_v += q_tile[i] * q_tile[i];
            }
            const vec2 weights = epilogue_weights(o_v, v_v, by_o, by_v);
            [[unroll]] for (uint i = r * D_V; i < (r + 1) * D_V; ++i)
                sum[i] = weights.x * sum[i] + weights.y * q_tile[i];
            if (EPILOGUE == PROJECT_OUT && row < queries)
                coefficients.at[(batch * queries + row) * HEADS + head] = along(o_v, v_v);
        }
    }
    store_own(o, D_V, batch * queries * HEADS * D_V + head * D_V, HEADS * D_V, first, queries, sum, LAYOUT_O);
}
