// attention.comp for GPUs: o = softmax(scale q kᵀ) v by blocks of query rows, with the running maximum subtracted
// (FlashAttention-2, algorithm 1). Keys and values pass through shared memory.
//
// Shapes, masks: as attention.comp.
// Owner: a workgroup computes ROWS rows of one head of o. Keys that none of the rows sees are skipped unless they share
//   a block with others.
// Numerics: as attention.comp; row sums are added in another order.
#version 460
#define FACTORS 1  // q
#include "lib/args.glsl"
#include "attention/attention_tile.glsl"

#define ARGS Out o; Out lse;
#include "attention/attention_args.glsl"

shared float factors[ROWS];  // one per row of the sum
shared uint block_word[DROPOUT ? BLOCK_K : 1];

// Multiplies each row of the sum by its factor.
void scale_rows(inout vec4 sum[SUMS]) {
    [[unroll]] for (uint i = 0; i < SUMS; ++i) sum[i] *= factors[sum_row(i % SUM_HEIGHT)];
}

void main() {
    const uint blocks = (queries + ROWS - 1) / ROWS;
    const uint head = group_index() / blocks % HEADS;
    const uint batch = group_index() / blocks / HEADS;
    if (batch >= batches) return;  // the whole workgroup
    const uint first = balanced_block(group_index() % blocks, blocks) * ROWS;
    const uint batch_head = batch * HEADS + head;
    const MaskRow mask = mask_row(batch);
    uvec2 visited = keys_of(mask, first, ROWS, BLOCK_K), following;

    const float in_base_2 = scale * LOG2_E;
    const uint q_base = batch * queries * q_pitch + head * D;
    const uint k_base = batch * keys * k_pitch + head / GQA_GROUP * D;
    const uint v_base = batch * keys * v_pitch + head / GQA_GROUP * D_V;
    vec4 sum[SUMS];
    float row_sum[HEIGHT];  // this invocation's share of each row's sum of exponentials
    float row_max[HEIGHT];
    uint row_word[HEIGHT];
    clear(sum);
    [[unroll]] for (uint i = 0; i < HEIGHT; ++i) {
        row_sum[i] = 0.0;
        row_max[i] = LOWEST;
        if (DROPOUT) row_word[i] = query_word(batch_head, first + tile_row(i));
    }

    vec4 next[FETCH];
    if (visited.x < visited.y) fetch(QK, 0, k, k_base, k_pitch, visited.x, mask.keys, next);
    if (WHOLE) load_own(QK, 0, q, q_base, q_pitch, first, queries, in_base_2);
    for (; visited.x < visited.y; visited = following) {
        const uint start = visited.x;
        following = next_keys(visited, mask, first, ROWS, BLOCK_K);
        vec4 p[HEIGHT];
        clear_tile(p);
        [[dont_unroll]] for (uint s = 0; s < SLICES; ++s) {
            barrier();
            stage(next, 1.0);
            if (!WHOLE) load_own(QK, s, q, q_base, q_pitch, first, queries, in_base_2);
            if (DROPOUT && s == 0)
                for (uint j = place(); j < BLOCK_K; j += GROUP) block_word[j] = key_word(batch_head, start + j);
            barrier();
            if (s + 1 < SLICES) fetch(QK, s + 1, k, k_base, k_pitch, start, mask.keys, next);
            else fetch(VO, 0, v, v_base, v_pitch, start, mask.keys, next);
            dot_slice(QK, s, p);
        }
        if (!all_visible(mask, first, ROWS, start, BLOCK_K))
            [[unroll]] for (uint i = 0; i < HEIGHT; ++i)
                [[unroll]] for (uint j = 0; j < 4; ++j) {
                    const uint key = start + tile_column() + j;
                    const int position = int(first + tile_row(i)) + mask.shift;
                    p[i][j] = key < mask.keys && visible(int(key), position) ? p[i][j] : HIDDEN;
                }
        [[unroll]] for (uint i = 0; i < HEIGHT; ++i) {
            const float here = max(max(p[i].x, p[i].y), max(p[i].z, p[i].w));
            const float highest = join_row(max(here, row_max[i]), true);
            const float correction = weight_below(row_max[i] - highest);
            row_max[i] = highest;
            row_sum[i] *= correction;
            if (leads_row()) factors[tile_row(i)] = correction;
            [[unroll]] for (uint j = 0; j < 4; ++j) {
                const float e = weight_below(p[i][j] - highest);
                row_sum[i] += e;
                p[i][j] = DROPOUT ? e * kept(row_word[i], block_word[tile_column() + j]) : e;
            }
        }
        if (!WHOLE) barrier();  // the weights replace the slice
        store_tile(p);
        [[unroll]] for (uint s = 0; s < SLICES_V; ++s) {
            barrier();
            stage(next, 1.0);
            barrier();
            if (s + 1 < SLICES_V) fetch(VO, s + 1, v, v_base, v_pitch, start, mask.keys, next);
            else if (following.x < following.y) fetch(QK, 0, k, k_base, k_pitch, following.x, mask.keys, next);
            if (s == 0) scale_rows(sum);
            add_slice(s, visited.y - start, sum);
        }
    }

    barrier();
    [[unroll]] for (uint i = 0; i < HEIGHT; ++i) {
        const float total = join_row(row_sum[i], false);
        const uint row = first + tile_row(i);
        const bool some = total > 0.0 && (!QUERY_LENGTHS || row < mask.queries);
        if (leads_row()) factors[tile_row(i)] = some ? 1.0 / total : 0.0;
        if (leads_row() && row < queries)
            lse.at[batch_head * queries + row] = some ? row_max[i] + log2(total) : uintBitsToFloat(0x7F800000);
    }
    barrier();
    scale_rows(sum);
    if (QUERY_LENGTHS) clear_rows(first, mask.queries, sum);
    store_sums(VO, sum, 1.0, o, batch * queries * HEADS * D_V + head * D_V, HEADS * D_V, first, queries,
               LAYOUT_O);
}
