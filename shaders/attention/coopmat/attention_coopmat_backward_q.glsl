// attention_backward_q.comp with cooperative matrices: dq and, unless delta is given, delta_i = <g_i, o_i>, which dk
// needs, too:
//     p = 2^(s - lse) with both in base 2,   ds = p (<g, v> - delta),   dq = scale ds k.
//
// Shapes: as attention_backward_q.comp. Owner, blocks visited: as attention_coopmat.comp, with dq in place of o.
// Numerics: q, k, v, g and ds are rounded to ELEMENT; delta is fp32, from g and o as stored. Rows without a key and
//   invalid rows have lse = +inf, hence p = 0, and delta = 0: dq = 0 exactly.
#define FACTORS WIDTH + WIDTH_V  // q, g
#define RESULTS WIDTH            // dq
#include "attention/coopmat/attention_coopmat.glsl"

#define ARGS In o; In given_delta; In lse; In g; Out delta; Out dq; uint dq_pitch;
#include "attention/attention_args.glsl"

shared float row_products[SUBGROUPS * ROWS];  // delta of each row
shared uint block_word[DROPOUT ? BLOCK_K : 1];

// Computes <g_i, o_i> of the subgroup's rows, one row after another, with the lanes along its columns.
void find_delta(uint base, uint first, uint count) {
    const uint step = LAYOUT != SCALAR ? 2 : 1;
    for (uint r = 0; r < ROWS; ++r) {
        float part = 0.0;
        if (first + r < count)
            for (uint d = lane() * step; d < D_V; d += SUBGROUP * step) {
                const uint at = base + (first + r) * HEADS * D_V + d;
                part += dot(load_some(g, at, step == 2, LAYOUT), load_some(o, at, step == 2, LAYOUT));
            }
        part = subgroupAdd(part);
        if (lane() == 0) row_products[gl_SubgroupID * ROWS + r] = part;
    }
    shared_barrier();
}

void main() {
    const float in_base_2 = scale * LOG2_E;
    const uint blocks = (queries + SUBGROUPS * ROWS - 1) / (SUBGROUPS * ROWS);
    const uint head = group_index() / blocks % HEADS;
    const uint batch = group_index() / blocks / HEADS;
    if (batch >= batches) return;  // the whole workgroup
    const uint first = balanced_block(group_index() % blocks, blocks) * SUBGROUPS * ROWS;
    const uint mine = first + gl_SubgroupID * ROWS;
    const uint batch_head = batch * HEADS + head;
    const MaskRow mask = mask_row(batch);
    const uint group_rows = SUBGROUPS * ROWS;

    const uint o_base = batch * queries * HEADS * D_V + head * D_V;
    load_rows(QK, q, batch * queries * q_pitch + head * D, q_pitch, mine, mask.queries);
    load_rows(VO, g, o_base, HEADS * D_V, mine, mask.queries);
    clear_sums();
    if (!GIVEN_DELTA) find_delta(o_base, mine, mask.queries);
    float row_lse[PASSES];
    float row_delta[PASSES];
    uint row_word[PASSES];
    [[unroll]] for (uint pass = 0; pass < PASSES; ++pass) {
        const uint row = mine + own_row(pass);
        row_lse[pass] = lse.at[batch_head * queries + min(row, queries - 1)];
        if (GIVEN_DELTA) {
            row_delta[pass] = row < mask.queries ? given_delta.at[batch_head * queries + row] : 0.0;
        } else {
            row_delta[pass] = row_products[gl_SubgroupID * ROWS + own_row(pass)];
            if (lane() < LINES && row < queries) delta.at[batch_head * queries + row] = row_delta[pass];
        }
        if (DROPOUT) row_word[pass] = query_word(batch_head, row);
    }

    const uint k_base = batch * keys * k_pitch + head / GQA_GROUP * D;
    const uint v_base = batch * keys * v_pitch + head / GQA_GROUP * D_V;
    uvec2 visited = keys_of(mask, first, group_rows, BLOCK_K);
    for (; visited.x < visited.y; visited = next_keys(visited, mask, first, group_rows, BLOCK_K)) {
        const uint start = visited.x;
        barrier();  // all are done with the previous keys
        stage(QK, k, k_base, k_pitch, start, mask.keys);
        stage(VO, v, v_base, v_pitch, start, mask.keys);
        if (DROPOUT)
            for (uint j = gl_LocalInvocationID.x; j < BLOCK_K; j += GROUP)
                block_word[j] = key_word(batch_head, start + j);
        barrier();
        float p[TILE_PER_LANE];
        float ds[TILE_PER_LANE];
        dot_rows(QK);
        load_tile(p);
        dot_rows(VO);
        load_tile(ds);
        Patch turned[PATCHES];
        load_patches(QK, turned);
        barrier();  // all are done with the untransposed keys
        store_patches(QK, turned);
        [[unroll]] for (uint i = 0; i < TILE_PER_LANE; ++i) {
            const uint pass = i / SPAN;
            if (DROPOUT) ds[i] *= kept(row_word[pass], block_word[own_column(i % SPAN)]);
            ds[i] = weight_below(p[i] * in_base_2 - row_lse[pass]) * (ds[i] - row_delta[pass]);
        }
        if (!all_visible(mask, mine, ROWS, start, BLOCK_K))
            [[unroll]] for (uint i = 0; i < TILE_PER_LANE; ++i) {
                const uint key = start + own_column(i % SPAN);
                const int position = int(mine + own_row(i / SPAN)) + mask.shift;
                const bool seen = key < mask.keys && visible(int(key), position);
                ds[i] = seen && !sees_one_key(mask, position) ? ds[i] : 0.0;
            }
        store_tile(ds);
        barrier();  // all keys are transposed
        add_rows(QK);
    }
    scale_sums(QK, scale);
    store_sums(QK, dq, batch * queries * dq_pitch + head * D, dq_pitch, mine, queries, LAYOUT);
}
