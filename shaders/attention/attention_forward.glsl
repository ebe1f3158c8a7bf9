// Computes the subgroup's rows of one head of o, from row `first` on, in registers, and their lse, by blocks of keys,
// for attention.comp, which has the equations, and attention_project_out.comp.
//
// Expects lse among the Args.

void attend(uint batch, uint head, uint first, out float sum[OWN]) {
    const uint batch_head = batch * HEADS + head;
    const MaskRow mask = mask_row(batch);

    float q_tile[OWN];
    float row_sum[ROWS_PER_LANE];  // running sum of the row's exponentials
    float row_max[ROWS_PER_LANE];
    uint row_word[ROWS_PER_LANE];
    load_own(q, D, batch * queries * q_pitch + head * D, q_pitch, first, queries, q_tile);
    const float in_base_2 = scale * LOG2_E;
    [[unroll]] for (uint i = 0; i < ROWS_PER_LANE * D; ++i) q_tile[i] *= in_base_2;
    [[unroll]] for (uint i = 0; i < ROWS_PER_LANE * D_V; ++i) sum[i] = 0.0;
    [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r) {
        row_sum[r] = 0.0;
        row_max[r] = LOWEST;
        if (DROPOUT) row_word[r] = query_word(batch_head, own_row(first, r));
    }

    const uint k_base = batch * keys * k_pitch + head / GQA_GROUP * D;
    const uint v_base = batch * keys * v_pitch + head / GQA_GROUP * D_V;
    uvec2 visited = keys_of(mask, first, ROWS, BLOCK_K);
    [[dont_unroll]] for (; visited.x < visited.y; visited = next_keys(visited, mask, first, ROWS, BLOCK_K)) {
        const uint start = visited.x;
        float kv_tile[BLOCK];
        float p[TILE];
        load_block(k, D, k_base, k_pitch, start, mask.keys, kv_tile);
        dot_rows(D, q_tile, kv_tile, p);
        const uint word = DROPOUT ? key_word(batch_head, start + lane()) : 0;
        [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r) {
            float highest = row_max[r];
            [[unroll]] for (uint j = 0; j < BLOCK_K; ++j) {
                const uint key = start + j;
                const bool seen = key < mask.keys && visible(int(key), int(own_row(first, r)) + mask.shift);
                const float x = p[j * ROWS_PER_LANE + r];
                p[j * ROWS_PER_LANE + r] = seen ? x : HIDDEN;
                highest = larger(p[j * ROWS_PER_LANE + r], highest);
            }
            const float correction = exp2_below(row_max[r] - highest);
            row_max[r] = highest;
            row_sum[r] *= correction;
            [[unroll]] for (uint j = 0; j < BLOCK_K; ++j) {
                const float e = exp2_below(p[j * ROWS_PER_LANE + r] - highest);
                row_sum[r] += e;
                p[j * ROWS_PER_LANE + r] = DROPOUT ? e * kept(row_word[r], subgroupBroadcast(word, j)) : e;
            }
            [[unroll]] for (uint d = 0; d < D_V; ++d) sum[r * D_V + d] *= correction;
        }
        load_block(v, D_V, v_base, v_pitch, start, mask.keys, kv_tile);
        add_rows(D_V, p, kv_tile, sum);
    }

    [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r) {
        const uint row = own_row(first, r);
        const bool some = row_sum[r] > 0.0 && (!QUERY_LENGTHS || row < mask.queries);
        scale_row(D_V, r, !QUERY_LENGTHS || some, some ? 1.0 / row_sum[r] : 0.0, sum);
        if (row < queries)
            lse.at[batch_head * queries + row] = some ? row_max[r] + log2(row_sum[r]) : uintBitsToFloat(0x7F800000);
    }
}
