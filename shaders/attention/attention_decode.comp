// attention.comp for the few queries of decoding, with a key per lane:
// o = softmax(scale q kᵀ) v by blocks of query rows, with the running maximum subtracted (FlashAttention-2,
// algorithm 1; BeliefFormer eq 6-9).
//
// Shapes, masks: as attention.comp.
// Owner: one subgroup computes ROWS rows of the heads of o that read one key head (attention/attention_decode.glsl), so
//   that a key and a value are loaded once for all these rows.
// Numerics: fp32; exponents are differences, in base 2 as in attention.comp. A row that sees no key has o = 0 and lse =
//   +inf, which makes the backward pass's 2^(s - lse) zero.
#version 460
#include "lib/args.glsl"
#include "attention/attention_decode.glsl"
#include "attention/attention_epilogue.glsl"

#define ARGS Out o; Out lse; EPILOGUE_ARGS
#include "attention/attention_args.glsl"

void main() {
    const uint rows = queries * GQA_GROUP, blocks = (rows + ROWS - 1) / ROWS, key_heads = HEADS / GQA_GROUP;
    uint index = group_index() * (GROUP / SUBGROUP) + gl_SubgroupID;
    uint key_head = index / blocks % key_heads;
    uint batch = index / blocks / key_heads;
    if (batch >= batches) return;
    uint first = balanced_block(index % blocks, blocks) * ROWS;
    uint head = key_head * GQA_GROUP;  // first head of the group
    uint batch_head = batch * HEADS + head;
    const MaskRow mask = mask_row(batch);
    const uint first_query = query_of(first), last_query = query_of(min(first + ROWS, rows) - 1);
    const uint query_count = last_query - first_query + 1;

    float q_tile[OWN];
    float sum[OWN];
    float row_sum[ROWS];  // this lane's share of each row's sum of exponentials
    float row_max[STATS];
    uint row_word[STATS];
    load_rows(q, D, batch * queries * q_pitch + head * D, q_pitch, first, rows, q_tile);
    const float in_base_2 = scale * LOG2_E;
    [[unroll]] for (uint i = 0; i < ROWS * chunks_of(D); ++i) q_tile[i] *= in_base_2;
    [[unroll]] for (uint i = 0; i < ROWS * chunks_of(D_V); ++i) sum[i] = 0.0;
    [[unroll]] for (uint r = 0; r < ROWS; ++r) row_sum[r] = 0.0;
    [[unroll]] for (uint i = 0; i < STATS; ++i) {
        row_max[i] = LOWEST;
        const uint row = first + i * SUBGROUP + lane();
        if (DROPOUT) row_word[i] = query_word(batch_head + head_of(row), query_of(row));
    }

    uint k_base = batch * keys * k_pitch + key_head * D;
    uint v_base = batch * keys * v_pitch + key_head * D_V;
    uvec2 visited = keys_of(mask, first_query, query_count, SUBGROUP);
    [[dont_unroll]] for (; visited.x < visited.y;
                         visited = next_keys(visited, mask, first_query, query_count, SUBGROUP)) {
        const uint start = visited.x;
        uint key = start + lane();
        float p[ROWS];
        [[unroll]] for (uint r = 0; r < ROWS; ++r) p[r] = 0.0;
        dot_rows(D, q_tile, k, k_base + min(key, mask.keys - 1) * k_pitch, p);
        [[unroll]] for (uint r = 0; r < ROWS; ++r) {
            bool seen = key < mask.keys && visible(int(key), int(query_of(first + r)) + mask.shift);
            const float x = p[r];
            p[r] = seen ? x : HIDDEN;
        }

        float highest[STATS];
        float shrink[STATS];
        fold(p, true, highest);
        [[unroll]] for (uint i = 0; i < STATS; ++i) {
            highest[i] = max(highest[i], row_max[i]);
            shrink[i] = exp2_below(row_max[i] - highest[i]);
            row_max[i] = highest[i];
        }
        [[unroll]] for (uint r = 0; r < ROWS; ++r) {
            float correction = of_row(shrink, r);
            p[r] = exp2_below(p[r] - of_row(row_max, r));
            row_sum[r] = row_sum[r] * correction + p[r];
            [[unroll]] for (uint c = 0; c < chunks_of(D_V); ++c) sum[r * chunks_of(D_V) + c] *= correction;
            if (DROPOUT) p[r] *= kept(of_row(row_word, r), key_word(batch_head + head_of(first + r), key));
        }
        add_rows(D_V, p, v, v_base, v_pitch, start, mask.keys, sum);
    }

    float total[STATS];
    float inverse[STATS];
    fold(row_sum, false, total);
    [[unroll]] for (uint i = 0; i < STATS; ++i) {
        const uint r = i * SUBGROUP + lane(), row = first + r;
        bool some = total[i] > 0.0 && (!QUERY_LENGTHS || query_of(row) < mask.queries);
        inverse[i] = some ? 1.0 / total[i] : 0.0;
        if (r < ROWS && row < rows)
            lse.at[(batch_head + head_of(row)) * queries + query_of(row)] =
                some ? row_max[i] + log2(total[i]) : uintBitsToFloat(0x7F800000);
    }
    if (EPILOGUE > 0)
        load_rows(query_values, D_V, batch * queries * own_pitch + head * D_V, own_pitch, first, rows, q_tile,
                  LAYOUT_OWN);
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        float factor = of_row(inverse, r);
        [[unroll]] for (uint c = 0; c < chunks_of(D_V); ++c) {
            const float x = sum[r * chunks_of(D_V) + c];
            sum[r * chunks_of(D_V) + c] = QUERY_LENGTHS && factor == 0.0 ? 0.0 : x * factor;
        }
        if (EPILOGUE > 0) {
            float o_v = 0.0, v_v = 0.0;
            [[unroll]] for (uint c = 0; c < chunks_of(D_V); ++c) {
                const uint i = r * chunks_of(D_V) + c;
                const float own = holds(D_V, c) ? q_tile[i] : 0.0;
                o_v += sum[i] * own;
                v_v += own * own;
            }
            o_v = subgroupAdd(o_v);
            v_v = subgroupAdd(v_v);
            const vec2 weights = epilogue_weights(o_v, v_v, by_o, by_v);
            [[unroll]] for (uint i = r * chunks_of(D_V); i < (r + 1) * chunks_of(D_V); ++i)
                sum[i] = weights.x * sum[i] + weights.y * q_tile[i];
            const uint row = first + r;
            if (EPILOGUE == PROJECT_OUT && lane() == 0 && row < rows)
                coefficients.at[start_of(1, batch * queries * HEADS + head, HEADS, row)] =
                    projection_coefficient(o_v, v_v);
        }
    }
    store_sums(o, D_V, batch * queries * HEADS * D_V + head * D_V, HEADS * D_V, first, rows, sum, LAYOUT_O);
}
