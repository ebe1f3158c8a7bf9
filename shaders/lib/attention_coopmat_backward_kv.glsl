// attention_backward_kv.comp by cooperative matrices:
//     dv_j = Σ_i p_ij g_i + addend_j,   dk_j = scale Σ_i p_ij (<g_i, v_j> - delta_i) q_i.
//
// Shapes: as attention_backward_kv.comp.
// Owner: a workgroup makes SUBGROUPS · ROWS rows of one key head, a subgroup ROWS of them, over all query heads that
//   read it, in a fixed order: heads outside, query tiles inside. Query tiles before the causal edge are not visited.
// Numerics: q, k, v, g, p and ds are rounded to ELEMENT; delta and lse are fp32.
#define FACTORS 2  // k, v
#define RESULTS 2  // dk, dv
#include "lib/attention_coopmat.glsl"

layout(constant_id = 8) const bool ADDEND = false;  // dense, as dv

#define ARGS In lse; In g; In delta; In addend; Out dk; Out dv; uint dk_pitch; uint dv_pitch;
#include "lib/attention_args.glsl"

// Of the staged queries.
shared float tile_lse[TILE];
shared float tile_delta[TILE];
shared uint tile_word[DROPOUT ? TILE : 1];

void main() {
    const float in_base_2 = scale * LOG2_E;
    const uint blocks = (keys + SUBGROUPS * ROWS - 1) / (SUBGROUPS * ROWS);
    const uint key_heads = HEADS / GQA_GROUP;
    const uint key_head = group_index() / blocks % key_heads;
    const uint batch = group_index() / blocks / key_heads;
    if (batch >= batches) return;  // the whole workgroup
    const uint first = fair_block(group_index() % blocks, blocks) * SUBGROUPS * ROWS;
    const uint mine = first + gl_SubgroupID * ROWS;
    const MaskRow mask = mask_row(batch);
    const uvec2 visitors = queries_of(mask, first, SUBGROUPS * ROWS);

    load_rows(0, k, batch * keys * k_pitch + key_head * D, k_pitch, mine, keys);
    load_rows(1, v, batch * keys * v_pitch + key_head * D, v_pitch, mine, keys);
    clear_sums();

    [[dont_unroll]] for (uint head = key_head * GQA_GROUP; head < (key_head + 1) * GQA_GROUP; ++head) {
        const uint batch_head = batch * HEADS + head;
        const uint q_base = batch * queries * q_pitch + head * D;
        const uint g_base = batch * queries * HEADS * D + head * D;
        uint row_word[PASSES];
        [[unroll]] for (uint pass = 0; pass < PASSES; ++pass)
            if (DROPOUT) row_word[pass] = key_word(batch_head, mine + own_row(pass));

        for (uint start = visitors.x; start < visitors.y; start += TILE) {
            barrier();  // everyone is done with the previous queries
            stage(0, q, q_base, q_pitch, start, mask.queries);
            stage(1, g, g_base, HEADS * D, start, mask.queries);
            for (uint j = gl_LocalInvocationID.x; j < TILE; j += GROUP) {
                const uint at = batch_head * queries + min(start + j, mask.queries - 1);
                tile_lse[j] = lse.at[at];
                tile_delta[j] = delta.at[at];
                if (DROPOUT) tile_word[j] = query_word(batch_head, start + j);
            }
            barrier();
            float p[HELD];
            float weight[HELD];
            dot_rows(0, 0);
            take(p);
            [[unroll]] for (uint i = 0; i < HELD; ++i) {
                const uint column = own_column(i % SPAN), query = start + column;
                const int key = int(mine + own_row(i / SPAN));
                const bool seen = query < visitors.y && visible(key, int(query) + mask.shift);
                p[i] = seen ? exp2_below(p[i] * in_base_2 - tile_lse[column]) : 0.0;
                weight[i] = DROPOUT ? p[i] * kept(tile_word[column], row_word[i / SPAN]) : p[i];
            }
            give(weight);
            add_rows(1, 1);
            dot_rows(1, 1);
            take(weight);
            [[unroll]] for (uint i = 0; i < HELD; ++i) {
                const uint column = own_column(i % SPAN), query = start + column;
                if (DROPOUT) weight[i] *= kept(tile_word[column], row_word[i / SPAN]);
                weight[i] = lone(mask, int(query) + mask.shift) ? 0.0 : p[i] * (weight[i] - tile_delta[column]);
            }
            give(weight);
            add_rows(0, 0);
        }
    }
    [[unroll]] for (uint i = 0; i < SUMS; ++i) sums[i] *= scale;
    store_rows(0, dk, batch * keys * dk_pitch + key_head * D, dk_pitch, mine, keys);
    store_rows(1, dv, batch * keys * dv_pitch + key_head * D, dv_pitch, mine, keys, ADDEND, addend,
               (batch * keys * key_heads + key_head) * D, key_heads * D);
}
