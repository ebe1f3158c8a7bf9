// attention_backward_kv.comp with cooperative matrices:
//     dv_j = Σ_i p_ij g_i + addend_j,   dk_j = scale Σ_i p_ij (<g_i, v_j> - delta_i) q_i.
//
// Shapes: as attention_backward_kv.comp.
// Owner: a workgroup computes SUBGROUPS · ROWS rows of one key head, a subgroup ROWS of them, over all query heads that
//   read it, in a fixed order: heads outside, queries inside. Queries that see none of the workgroup's keys are skipped
//   unless they share a block with others.
// Numerics: q, k, v, g, p and ds are rounded to ELEMENT; delta and lse are fp32.
#define FACTORS WIDTH + WIDTH_V  // k, v
#define RESULTS WIDTH + WIDTH_V  // dk, dv
#include "attention/coopmat/attention_coopmat.glsl"

layout(constant_id = 8) const bool ADDEND = false;  // of dv's shape, dense

#define ARGS In lse; In g; In delta; In addend; Out dk; Out dv; uint dk_pitch; uint dv_pitch;
#include "attention/attention_args.glsl"

// Values of the staged queries.
shared float block_lse[BLOCK_K];
shared float block_delta[BLOCK_K];
shared uint block_word[DROPOUT ? BLOCK_K : 1];

void main() {
    const float in_base_2 = scale * LOG2_E;
    const uint blocks = (keys + SUBGROUPS * ROWS - 1) / (SUBGROUPS * ROWS);
    const uint key_heads = HEADS / GQA_GROUP;
    const uint key_head = group_index() / blocks % key_heads;
    const uint batch = group_index() / blocks / key_heads;
    if (batch >= batches) return;  // the whole workgroup
    const uint first = balanced_block(group_index() % blocks, blocks) * SUBGROUPS * ROWS;
    const uint mine = first + gl_SubgroupID * ROWS;
    const MaskRow mask = mask_row(batch);
    const uint group_rows = SUBGROUPS * ROWS;

    load_rows(QK, k, batch * keys * k_pitch + key_head * D, k_pitch, mine, mask.keys);
    load_rows(VO, v, batch * keys * v_pitch + key_head * D_V, v_pitch, mine, mask.keys);
    clear_sums();

    [[dont_unroll]] for (uint head = key_head * GQA_GROUP; head < (key_head + 1) * GQA_GROUP; ++head) {
        const uint batch_head = batch * HEADS + head;
        const uint q_base = batch * queries * q_pitch + head * D;
        const uint g_base = batch * queries * HEADS * D_V + head * D_V;
        uint row_word[PASSES];
        [[unroll]] for (uint pass = 0; pass < PASSES; ++pass)
            if (DROPOUT) row_word[pass] = key_word(batch_head, mine + own_row(pass));

        uvec2 visitors = queries_of(mask, first, group_rows, BLOCK_K);
        for (; visitors.x < visitors.y; visitors = next_queries(visitors, mask, first, group_rows, BLOCK_K)) {
            const uint start = visitors.x;
            barrier();  // all are done with the previous queries
            stage(QK, q, q_base, q_pitch, start, mask.queries);
            stage(VO, g, g_base, HEADS * D_V, start, mask.queries);
            for (uint j = gl_LocalInvocationID.x; j < BLOCK_K; j += GROUP) {
                const uint at = batch_head * queries + min(start + j, mask.queries - 1);
                block_lse[j] = lse.at[at];
                block_delta[j] = delta.at[at];
                if (DROPOUT) block_word[j] = query_word(batch_head, start + j);
            }
            barrier();
            float p[TILE_PER_LANE];
            float ds[TILE_PER_LANE];
            dot_rows(QK);
            load_tile(p);
            dot_rows(VO);
            load_tile(ds);
            Patch turned_q[PATCHES];
            Patch turned_g[PATCHES];
            load_patches(QK, turned_q);
            load_patches(VO, turned_g);
            barrier();  // all are done with the untransposed queries
            store_patches(QK, turned_q);
            store_patches(VO, turned_g);
            [[unroll]] for (uint i = 0; i < TILE_PER_LANE; ++i) {
                const uint column = own_column(i % SPAN);
                const float keep = DROPOUT ? kept(block_word[column], row_word[i / SPAN]) : 1.0;
                p[i] = weight_below(p[i] * in_base_2 - block_lse[column]);
                ds[i] = p[i] * (keep * ds[i] - block_delta[column]);
                p[i] *= keep;
            }
            if (!all_visible(mask, start, BLOCK_K, mine, ROWS))
                [[unroll]] for (uint i = 0; i < TILE_PER_LANE; ++i) {
                    const uint query = start + own_column(i % SPAN);
                    const int key = int(mine + own_row(i / SPAN)), position = int(query) + mask.shift;
                    const bool counts = query < mask.queries && (KEY_LENGTHS == 0 || key < int(mask.keys));
                    const bool seen = counts && visible(key, position);
                    p[i] = seen ? p[i] : 0.0;
                    ds[i] = seen && !sees_one_key(mask, position) ? ds[i] : 0.0;
                }
            store_tile(p);
            barrier();  // all queries are transposed
            add_rows(VO);
            store_tile(ds);
            add_rows(QK);
        }
    }
    scale_sums(QK, scale);
    store_sums(QK, dk, batch * keys * dk_pitch + key_head * D, dk_pitch, mine, keys, LAYOUT);
    store_sums(VO, dv, batch * keys * dv_pitch + key_head * D_V, dv_pitch, mine, keys, ADDEND, addend,
               (batch * keys * key_heads + key_head) * D_V, key_heads * D_V, LAYOUT);
}
