// attention_backward_q.comp for GPUs: dq and, unless delta is given, delta_i = <g_i, o_i>, which dk needs, too:
//     p = 2^(s - lse) with both in base 2,   ds = p (<g, v> - delta),   dq = scale ds k.
//
// Shapes: as attention_backward_q.comp. Owner: as attention_tile.comp, with dq in place of o.
// Numerics: a row without a key has lse = +inf, hence p = 0, delta = 0 and dq = 0 exactly.
#version 460
#define FACTORS 2  // q, g
#include "lib/args.glsl"
#include "attention/attention_tile.glsl"

#define ARGS In o; In given_delta; In lse; In g; Out delta; Out dq; uint dq_pitch;
#include "attention/attention_args.glsl"

// lse and delta of each row are stored in the word after the row's weights, which is padding against bank conflicts. On
// Xe2 the registers of an invocation cannot hold them together with a block at heads of 32.
const bool BESIDE_WEIGHTS = WHOLE && WEIGHT_PITCH > ACROSS;

shared uint block_word[DROPOUT ? BLOCK_K : 1];

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
    const uint g_base = batch * queries * HEADS * D_V + head * D_V, g_pitch = HEADS * D_V;
    vec4 sum[SUMS];
    vec2 row_end[HEIGHT];  // lse, delta
    uint row_word[HEIGHT];
    clear(sum);
    [[unroll]] for (uint i = 0; i < HEIGHT; ++i) {
        const uint row = first + tile_row(i), inside = min(row, queries - 1);
        float part = 0.0;
        if (!GIVEN_DELTA)
            for (uint word = tile_column() / 4; word < WORDS_V; word += ACROSS)
                part += dot(load_word(VO, g, g_base, g_pitch, inside, word),
                            load_word(VO, o, g_base, g_pitch, inside, word));
        float row_delta = GIVEN_DELTA ? given_delta.at[batch_head * queries + inside] : join_row(part, false);
        if (QUERY_LENGTHS && row >= mask.queries) row_delta = 0.0;
        if (!GIVEN_DELTA && leads_row() && row < queries) delta.at[batch_head * queries + row] = row_delta;
        row_end[i] = vec2(lse.at[batch_head * queries + inside], row_delta);
        if (BESIDE_WEIGHTS && leads_row()) own[weights_at(tile_row(i), ACROSS)].xy = row_end[i];
        if (DROPOUT) row_word[i] = query_word(batch_head, row);
    }

    vec4 next[FETCH];
    if (visited.x < visited.y) fetch(VO, 0, v, v_base, v_pitch, visited.x, mask.keys, next);
    if (WHOLE) {
        load_own(QK, 0, q, q_base, q_pitch, first, queries, in_base_2);
        load_own(VO, 0, g, g_base, g_pitch, first, queries, 1.0);
    }
    for (; visited.x < visited.y; visited = following) {
        const uint start = visited.x;
        following = next_keys(visited, mask, first, ROWS, BLOCK_K);
        vec4 p[HEIGHT];
        vec4 ds[HEIGHT];
        clear_tile(p);
        clear_tile(ds);
        [[dont_unroll]] for (uint s = 0; s < SLICES_V; ++s) {
            barrier();
            stage(next, 1.0);
            if (!WHOLE) load_own(VO, s, g, g_base, g_pitch, first, queries, 1.0);
            if (DROPOUT && s == 0)
                for (uint j = place(); j < BLOCK_K; j += GROUP) block_word[j] = key_word(batch_head, start + j);
            barrier();
            if (s + 1 < SLICES_V) fetch(VO, s + 1, v, v_base, v_pitch, start, mask.keys, next);
            else fetch(QK, 0, k, k_base, k_pitch, start, mask.keys, next);
            dot_slice(VO, s, ds);
        }
        [[dont_unroll]] for (uint s = 0; s < SLICES; ++s) {
            barrier();
            stage(next, 1.0);
            if (!WHOLE) load_own(QK, s, q, q_base, q_pitch, first, queries, in_base_2);
            barrier();
            if (SLICES > 1) fetch(QK, (s + 1) % SLICES, k, k_base, k_pitch, start, mask.keys, next);
            dot_slice(QK, s, p);
        }
        [[unroll]] for (uint i = 0; i < HEIGHT; ++i) {
            const vec2 of_row = BESIDE_WEIGHTS ? own[weights_at(tile_row(i), ACROSS)].xy : row_end[i];
            [[unroll]] for (uint j = 0; j < 4; ++j) {
                if (DROPOUT) ds[i][j] *= kept(row_word[i], block_word[tile_column() + j]);
                ds[i][j] = weight_below(p[i][j] - of_row.x) * (ds[i][j] - of_row.y);
            }
        }
        if (!all_visible(mask, first, ROWS, start, BLOCK_K))
            [[unroll]] for (uint i = 0; i < HEIGHT; ++i)
                [[unroll]] for (uint j = 0; j < 4; ++j) {
                    const uint key = start + tile_column() + j;
                    const int position = int(first + tile_row(i)) + mask.shift;
                    const bool seen = key < mask.keys && visible(int(key), position);
                    ds[i][j] = seen && !sees_one_key(mask, position) ? ds[i][j] : 0.0;
                }
        if (!WHOLE) barrier();  // the weights replace the slice
        store_tile(ds);
        [[unroll]] for (uint s = 0; s < SLICES; ++s) {  // k's only slice is still there
            barrier();
            if (SLICES > 1) {
                stage(next, 1.0);
                barrier();
            }
            if (s + 1 < SLICES) fetch(QK, s + 1, k, k_base, k_pitch, start, mask.keys, next);
            else if (following.x < following.y) fetch(VO, 0, v, v_base, v_pitch, following.x, mask.keys, next);
            add_slice(s, visited.y - start, sum);
        }
    }
    if (QUERY_LENGTHS) clear_rows(first, mask.queries, sum);
    store_sums(QK, sum, scale, dq, batch * queries * dq_pitch + head * D, dq_pitch, first, queries,
               LAYOUT);
}
