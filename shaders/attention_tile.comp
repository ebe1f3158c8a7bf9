// attention.comp for GPUs: o = softmax(scale q kᵀ) v by blocks of query rows, the running maximum subtracted
// (FlashAttention-2, algorithm 1), keys and values passing through shared memory.
//
// Shapes, masks: as attention.comp.
// Owner: a workgroup makes ROWS rows of one head of o. Key tiles behind the causal edge are not visited.
// Numerics: as attention.comp; sums of rows are taken in another order.
#version 460
#define FACTORS 1  // q
#include "lib/args.glsl"
#include "lib/attention_tile.glsl"

#define ARGS Out o; Out lse;
#include "lib/attention_args.glsl"

shared float factors[ROWS];  // for each row of the sum
shared uint tile_word[DROPOUT ? TILE : 1];

// Each row of the sum times its factor.
void scale_rows(inout vec4 sum[SUMS]) {
    [[unroll]] for (uint i = 0; i < SUMS; ++i) sum[i] *= factors[sum_row(i % SUM_HEIGHT)];
}

void main() {
    const uint blocks = (queries + ROWS - 1) / ROWS;
    const uint head = group_index() / blocks % HEADS;
    const uint batch = group_index() / blocks / HEADS;
    if (batch >= batches) return;  // the whole workgroup
    const uint first = fair_block(group_index() % blocks, blocks) * ROWS;
    const uint batch_head = batch * HEADS + head;
    const MaskRow mask = mask_row(batch);
    const uvec2 visited = keys_of(mask, first, ROWS);

    const float in_base_2 = scale * LOG2_E;
    const uint q_base = batch * queries * q_pitch + head * D;
    const uint k_base = batch * keys * k_pitch + head / GQA_GROUP * D;
    const uint v_base = batch * keys * v_pitch + head / GQA_GROUP * D;
    vec4 sum[SUMS];
    float weight[HEIGHT];  // this invocation's share of each row's sum of exponentials
    float top[HEIGHT];
    uint row_word[HEIGHT];
    clear(sum);
    [[unroll]] for (uint i = 0; i < HEIGHT; ++i) {
        weight[i] = 0.0;
        top[i] = LOWEST;
        if (DROPOUT) row_word[i] = query_word(batch_head, first + tile_row(i));
    }

    vec4 next[FETCH];
    if (visited.x < visited.y) fetch(0, k, k_base, k_pitch, visited.x, mask.keys, next);
    if (WHOLE) hold(0, 0, q, q_base, q_pitch, first, queries, in_base_2);
    for (uint start = visited.x; start < visited.y; start += TILE) {
        vec4 p[HEIGHT];
        clear_tile(p);
        [[dont_unroll]] for (uint s = 0; s < SLICES; ++s) {
            barrier();
            stage(next, 1.0);
            if (!WHOLE) hold(0, s, q, q_base, q_pitch, first, queries, in_base_2);
            if (DROPOUT && s == 0)
                for (uint j = place(); j < TILE; j += GROUP) tile_word[j] = key_word(batch_head, start + j);
            barrier();
            if (s + 1 < SLICES) fetch(s + 1, k, k_base, k_pitch, start, mask.keys, next);
            else fetch(0, v, v_base, v_pitch, start, mask.keys, next);
            dot_slice(0, s, p);
        }
        [[unroll]] for (uint i = 0; i < HEIGHT; ++i) {
            const int position = int(first + tile_row(i)) + mask.shift;
            float highest = top[i];
            [[unroll]] for (uint j = 0; j < 4; ++j) {
                const uint key = start + tile_column() + j;
                const bool seen = key < mask.keys && visible(int(key), position);
                p[i][j] = seen ? p[i][j] : HIDDEN;
                highest = larger(p[i][j], highest);
            }
            highest = join_row(highest, true);
            const float less = exp2_below(top[i] - highest);
            top[i] = highest;
            weight[i] *= less;
            if (leads_row()) factors[tile_row(i)] = less;
            [[unroll]] for (uint j = 0; j < 4; ++j) {
                const float e = exp2_below(p[i][j] - highest);
                weight[i] += e;
                p[i][j] = DROPOUT ? e * kept(row_word[i], tile_word[tile_column() + j]) : e;
            }
        }
        give(p);
        [[unroll]] for (uint s = 0; s < SLICES; ++s) {
            barrier();
            stage(next, 1.0);
            barrier();
            if (s + 1 < SLICES) fetch(s + 1, v, v_base, v_pitch, start, mask.keys, next);
            else if (start + TILE < visited.y) fetch(0, k, k_base, k_pitch, start + TILE, mask.keys, next);
            if (s == 0) scale_rows(sum);
            add_slice(s, visited.y - start, sum);
        }
    }

    barrier();
    [[unroll]] for (uint i = 0; i < HEIGHT; ++i) {
        const float total = join_row(weight[i], false);
        const bool some = total > 0.0;
        const uint row = first + tile_row(i);
        if (leads_row()) factors[tile_row(i)] = some ? 1.0 / total : 0.0;
        if (leads_row() && row < queries)
            lse.at[batch_head * queries + row] = some ? top[i] + log2(total) : uintBitsToFloat(0x7F800000);
    }
    barrier();
    scale_rows(sum);
    store_rows(sum, 1.0, o, batch * queries * HEADS * D + head * D, HEADS * D, first, queries);
}
