// attention_backward_kv.comp with matrices of a whole workgroup:
//     dv_j = Σ_i p_ij g_i + addend_j,   dk_j = scale Σ_i p_ij (<g_i, v_j> - delta_i) q_i.
//
// Shapes: as attention_backward_kv.comp.
// Owner: a workgroup computes ROWS rows of one key head, over all query heads that read it, in a fixed order: heads
//   outside, queries inside. Queries that see none of the workgroup's keys are skipped unless they share a block with
//   others.
// Numerics: q, k, v, g, p and ds are rounded to ELEMENT; delta and lse are fp32.
#include "attention/coopmat/attention_coopmat2.glsl"

layout(constant_id = 8) const bool ADDEND = false;  // of dv's shape, dense

#define ARGS In lse; In g; In delta; In addend; Out dk; Out dv; uint dk_pitch; uint dv_pitch;
#include "attention/attention_args.glsl"

// p of a pair; `at` is the indices of the first and of the last valid query in lse and delta.
float probability(const in uint row, const in uint column, const in float product, const in uvec2 at) {
    return weight_below(product * (scale * LOG2_E) - lse.at[min(at.x + column, at.y)]);
}

float dropped(const in uint row, const in uint column, const in float p) {
    return p * kept(block_word[column], own_word[row]);
}

// ds of a pair from <g, v> and p; `at` as in probability().
float slope(const in uint row, const in uint column, const in float up, const in float p, const in uvec2 at) {
    const float row_delta = delta.at[min(at.x + column, at.y)];
    return p * ((DROPOUT ? up * kept(block_word[column], own_word[row]) : up) - row_delta);
}

// p if the query sees the key, else 0; `at` is the tile's first key and first query, `mask` the members of the MaskRow,
// because compilers rarely see structures as arguments.
float seen(const in uint row, const in uint column, const in float p, const in uvec2 at, const in ivec3 mask) {
    const uint query = at.y + column;
    const int key = int(at.x + row);
    if (query >= mask.x || (KEY_LENGTHS > 0 && key >= mask.y) || !visible(key, int(query) + mask.z)) return 0.0;
    return p;
}

// ds, or 0 if the key is the only one that the query sees; arguments as in seen().
float of_several(const in uint row, const in uint column, const in float ds, const in uvec2 at, const in ivec3 mask) {
    return sees_one_key(MaskRow(mask.x, mask.y, mask.z), int(at.y + column) + mask.z) ? 0.0 : ds;
}

float scaled(const in uint row, const in uint column, const in float x) { return x * scale; }

// x plus its element of the addend; `at` is the first key and the first element of its head in the addend.
float with_addend(const in uint row, const in uint column, const in float x, const in uvec2 at) {
    if (at.x + row >= keys || column >= D_V) return x;  // not stored
    return x + load_one(addend, at.y + (at.x + row) * (HEADS / GQA_GROUP) * D_V + column, LAYOUT);
}

void main() {
    const uint blocks = (keys + ROWS - 1) / ROWS;
    const uint key_heads = HEADS / GQA_GROUP;
    const uint key_head = group_index() / blocks % key_heads;
    const uint batch = group_index() / blocks / key_heads;
    if (batch >= batches) return;  // the whole workgroup
    const uint first = balanced_block(group_index() % blocks, blocks) * ROWS;
    const MaskRow mask = mask_row(batch);
    const ivec3 counts = ivec3(mask.queries, mask.keys, mask.shift);
    const uint k_base = batch * keys * k_pitch + key_head * D;
    const uint v_base = batch * keys * v_pitch + key_head * D_V;
    const uint dk_base = batch * keys * dk_pitch + key_head * D;
    const uint dv_base = batch * keys * dv_pitch + key_head * D_V;

    LEFT(ROWS, WIDTH) k_rows;
    LEFT(ROWS, WIDTH_V) v_rows;
    LOAD(k_rows, k, LAYOUT, k_base, k_pitch, uvec2(mask.keys, D), uvec2(first, 0), OWN);
    LOAD(v_rows, v, LAYOUT, v_base, v_pitch, uvec2(mask.keys, D_V), uvec2(first, 0), OWN_V);
    TOTAL k_sum = TOTAL(0.0);
    TOTAL_V v_sum = TOTAL_V(0.0);

    [[dont_unroll]] for (uint head = key_head * GQA_GROUP; head < (key_head + 1) * GQA_GROUP; ++head) {
        const uint batch_head = batch * HEADS + head;
        const uint q_base = batch * queries * q_pitch + head * D;
        const uint g_base = batch * queries * HEADS * D_V + head * D_V;
        uvec2 visitors = queries_of(mask, first, ROWS, BLOCK_K);
        for (; visitors.x < visitors.y; visitors = next_queries(visitors, mask, first, ROWS, BLOCK_K)) {
            const uint start = visitors.x;
            if (DROPOUT) {
                barrier();  // all are done with the previous words
                for (uint i = gl_LocalInvocationID.x; i < ROWS; i += GROUP)
                    own_word[i] = key_word(batch_head, first + i);
                for (uint j = gl_LocalInvocationID.x; j < BLOCK_K; j += GROUP)
                    block_word[j] = query_word(batch_head, start + j);
                barrier();
            }
            const bool some_hidden = !all_visible(mask, start, BLOCK_K, first, ROWS);
            const uvec2 at = batch_head * queries + uvec2(start, mask.queries - 1);
            RIGHT(WIDTH, BLOCK_K) q_columns;
            LOAD_TRANSPOSED(q_columns, q, LAYOUT, q_base, q_pitch, uvec2(mask.queries, D), uvec2(start, 0), BLOCK);
            TILE p = coopMatMulAdd(k_rows, q_columns, TILE(0.0));
            coopMatPerElementNV(p, p, probability, at);
            if (some_hidden) coopMatPerElementNV(p, p, seen, uvec2(first, start), counts);
            TILE weight = p;
            if (DROPOUT) coopMatPerElementNV(weight, p, dropped);
            const uvec2 g_end = uvec2(mask.queries, D_V);
            RIGHT(BLOCK_K, WIDTH_V) g_rows;
            LOAD(g_rows, g, LAYOUT, g_base, HEADS * D_V, g_end, uvec2(start, 0), BLOCK_V);
            ROUND(weight);
            v_sum = coopMatMulAdd(as_weights(weight), g_rows, v_sum);
            RIGHT(WIDTH_V, BLOCK_K) g_columns;
            LOAD_TRANSPOSED(g_columns, g, LAYOUT, g_base, HEADS * D_V, g_end, uvec2(start, 0), BLOCK_V);
            TILE ds = coopMatMulAdd(v_rows, g_columns, TILE(0.0));
            coopMatPerElementNV(ds, ds, slope, p, at);
            if (some_hidden) coopMatPerElementNV(ds, ds, of_several, uvec2(first, start), counts);
            RIGHT(BLOCK_K, WIDTH) q_rows;
            LOAD(q_rows, q, LAYOUT, q_base, q_pitch, uvec2(mask.queries, D), uvec2(start, 0), BLOCK);
            ROUND(ds);
            k_sum = coopMatMulAdd(as_weights(ds), q_rows, k_sum);
        }
    }
    coopMatPerElementNV(k_sum, k_sum, scaled);
    STORE(k_sum, dk, LAYOUT, dk_base, dk_pitch, uvec2(keys, D), uvec2(first, 0), OWN);
    if (ADDEND)
        coopMatPerElementNV(v_sum, v_sum, with_addend, uvec2(first, (batch * keys * key_heads + key_head) * D_V));
    STORE(v_sum, dv, LAYOUT, dv_base, dv_pitch, uvec2(keys, D_V), uvec2(first, 0), OWN_V);
}
