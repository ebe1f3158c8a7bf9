// attention.comp with cooperative matrices: o = softmax(scale q kᵀ) v by blocks of query rows, with the running maximum
// subtracted (FlashAttention-2, algorithm 1).
//
// Shapes, masks: as attention.comp.
// Owner: a workgroup computes SUBGROUPS · ROWS rows of one head of o, a subgroup ROWS of them. Keys that none of the
//   workgroup's queries sees are skipped unless they share a block with others.
// Numerics: q, k, v and the probabilities, which are relative to the running maximum, are rounded to ELEMENT. Logits,
//   maxima, sums of exponentials, lse and o are fp32.
//
// A sum's rows are scaled by a matrix loaded from one number per row, with stride 0 between columns, so the mapping of
// elements to lanes need not be known and the keys are swept once.
#define FACTORS WIDTH    // q
#define RESULTS WIDTH_V  // o
#include "attention/coopmat/attention_coopmat.glsl"

#define ARGS Out o; Out lse;
#include "attention/attention_args.glsl"

shared float factors[SUBGROUPS * ROWS];  // one per row of a sum
shared uint block_word[DROPOUT ? BLOCK_K : 1];

// Sum or maximum of x over the lanes that share a row.
float join_row(float x, bool maximum) {
    [[unroll]] for (uint bit = LINES; bit < SUBGROUP; bit *= 2) {
        const float other = subgroupShuffleXor(x, bit);
        x = maximum ? max(x, other) : x + other;
    }
    return x;
}

void put_factor(uint pass, float factor) {
    if (lane() < LINES) factors[gl_SubgroupID * ROWS + own_row(pass)] = factor;
}

// Multiplies each row of the sum by its factor, after put_factor() for all rows.
void scale_rows() {
    const uint columns = WIDTH_V / MATRIX_N;
    [[unroll]] for (uint s = 0; s < STACK; ++s) {
        SUM factor;
        coopMatLoad(factor, factors, gl_SubgroupID * ROWS + s * MATRIX_M, 0, gl_CooperativeMatrixLayoutColumnMajor);
        [[unroll]] for (uint c = 0; c < columns; ++c) sums[s * columns + c] = sums[s * columns + c] * factor;
    }
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

    load_rows(QK, q, batch * queries * q_pitch + head * D, q_pitch, mine, mask.queries);
    clear_sums();
    float weight[PASSES];  // this lane's share of each row's sum of exponentials
    float top[PASSES];
    uint row_word[PASSES];
    [[unroll]] for (uint pass = 0; pass < PASSES; ++pass) {
        weight[pass] = 0.0;
        top[pass] = LOWEST;
        if (DROPOUT) row_word[pass] = query_word(batch_head, mine + own_row(pass));
    }

    const uint k_base = batch * keys * k_pitch + head / GQA_GROUP * D;
    const uint v_base = batch * keys * v_pitch + head / GQA_GROUP * D_V;
    uvec2 visited = keys_of(mask, first, group_rows, BLOCK_K);
    for (; visited.x < visited.y; visited = next_keys(visited, mask, first, group_rows, BLOCK_K)) {
        const uint start = visited.x;
        barrier();  // all are done with the previous keys
        stage(QK, k, k_base, k_pitch, start, mask.keys);
        stage_turned(VO, v, v_base, v_pitch, start, mask.keys);
        if (DROPOUT)
            for (uint j = gl_LocalInvocationID.x; j < BLOCK_K; j += GROUP)
                block_word[j] = key_word(batch_head, start + j);
        barrier();
        float p[TILE_PER_LANE];
        dot_rows(QK);
        load_tile(p);
        if (!all_visible(mask, mine, ROWS, start, BLOCK_K))
            [[unroll]] for (uint i = 0; i < TILE_PER_LANE; ++i) {
                const uint key = start + own_column(i % SPAN);
                const bool seen = key < mask.keys && visible(int(key), int(mine + own_row(i / SPAN)) + mask.shift);
                p[i] = seen ? p[i] : never();
            }
        [[unroll]] for (uint pass = 0; pass < PASSES; ++pass) {
            float highest = p[pass * SPAN];
            [[unroll]] for (uint i = 1; i < SPAN; ++i) highest = max(highest, p[pass * SPAN + i]);
            highest = max(top[pass], join_row(highest, true) * in_base_2);
            const float shrink = weight_below(top[pass] - highest);
            top[pass] = highest;
            weight[pass] *= shrink;
            put_factor(pass, shrink);
            [[unroll]] for (uint i = 0; i < SPAN; ++i) {
                float e = weight_below(p[pass * SPAN + i] * in_base_2 - highest);
                weight[pass] += e;
                if (DROPOUT) e *= kept(row_word[pass], block_word[own_column(i)]);
                p[pass * SPAN + i] = e;
            }
        }
        store_tile(p);
        scale_rows();
        add_rows(VO);
    }

    shared_barrier();
    [[unroll]] for (uint pass = 0; pass < PASSES; ++pass) {
        const float total = join_row(weight[pass], false);
        const uint row = mine + own_row(pass);
        const bool some = total > 0.0 && (!QUERY_LENGTHS || row < mask.queries);
        put_factor(pass, some ? 1.0 / total : 0.0);
        if (lane() < LINES && row < queries)
            lse.at[batch_head * queries + row] = some ? top[pass] + log2(total) : uintBitsToFloat(0x7F800000);
    }
    shared_barrier();
    scale_rows();
    store_sums(VO, o, batch * queries * HEADS * D_V + head * D_V, HEADS * D_V, mine, queries, LAYOUT_O);
}
