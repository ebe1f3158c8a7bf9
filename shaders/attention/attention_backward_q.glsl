// dq of the subgroup's rows of one head, from row `first` on, for attention_backward_q.comp, which has the equations,
// and attention_project_out_backward_q.comp.
//
// Expects o, lse, delta, dq and dq_pitch among the Args; the kernel defines load_g and load_delta.

// Loads the lane's rows of the head of g that begins at `base`.
void load_g(uint base, uint first, out float g_tile[OWN]);
float load_delta(uint at);

void attend_backward_q(uint batch, uint head, uint first) {
    const uint batch_head = batch * HEADS + head;
    const MaskRow mask = mask_row(batch);

    float q_tile[OWN];
    float g_tile[OWN];
    float sum[OWN];
    float row_lse[ROWS_PER_LANE];
    float row_delta[ROWS_PER_LANE];
    uint row_word[ROWS_PER_LANE];
    const uint o_base = batch * queries * HEADS * D_V + head * D_V;
    if (!GIVEN_DELTA) load_own(o, D_V, o_base, HEADS * D_V, first, queries, q_tile);
    load_g(o_base, first, g_tile);
    [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r) {
        const uint own = own_row(first, r), inside = batch_head * queries + min(own, queries - 1);
        row_lse[r] = lse.at[inside];
        row_delta[r] = GIVEN_DELTA ? load_delta(inside) : 0.0;
        if (!GIVEN_DELTA) {
            [[unroll]] for (uint d = 0; d < D_V; ++d) row_delta[r] += q_tile[r * D_V + d] * g_tile[r * D_V + d];
            if (own < queries) delta.at[inside] = row_delta[r];
        }
        if (DROPOUT) row_word[r] = query_word(batch_head, own);
    }
    load_own(q, D, batch * queries * q_pitch + head * D, q_pitch, first, queries, q_tile);
    const float in_base_2 = scale * LOG2_E;
    [[unroll]] for (uint i = 0; i < ROWS_PER_LANE * D; ++i) {
        q_tile[i] *= in_base_2;
        sum[i] = 0.0;
    }

    const uint k_base = batch * keys * k_pitch + head / GQA_GROUP * D;
    const uint v_base = batch * keys * v_pitch + head / GQA_GROUP * D_V;
    uvec2 visited = keys_of(mask, first, ROWS, BLOCK_K);
    [[dont_unroll]] for (; visited.x < visited.y; visited = next_keys(visited, mask, first, ROWS, BLOCK_K)) {
        const uint start = visited.x;
        float kv_tile[BLOCK];
        float p[TILE];
        float ds[TILE];
        load_block(v, D_V, v_base, v_pitch, start, mask.keys, kv_tile);
        dot_rows(D_V, g_tile, kv_tile, ds);
        load_block(k, D, k_base, k_pitch, start, mask.keys, kv_tile);
        dot_rows(D, q_tile, kv_tile, p);
        const uint word = DROPOUT ? key_word(batch_head, start + lane()) : 0;
        [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r) {
            const int position = int(own_row(first, r)) + mask.shift;
            [[unroll]] for (uint j = 0; j < BLOCK_K; ++j) {
                const uint i = j * ROWS_PER_LANE + r, key = start + j;
                const bool seen = key < mask.keys && visible(int(key), position);
                const float e = exp2_below(p[i] - row_lse[r]);
                if (DROPOUT) ds[i] *= kept(row_word[r], subgroupBroadcast(word, j));
                const float d_logit = e * (ds[i] - row_delta[r]);
                ds[i] = seen && !sees_one_key(mask, position) ? d_logit : 0.0;
            }
        }
        add_rows(D, ds, kv_tile, sum);
    }
    [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r)
        scale_row(D, r, !QUERY_LENGTHS || own_row(first, r) < mask.queries, scale, sum);
    store_own(dq, D, batch * queries * dq_pitch + head * D, dq_pitch, first, queries, sum);
}
