// attention.comp with matrices of a whole workgroup: o = softmax(scale q kᵀ) v by blocks of query rows, with the
// running maximum subtracted (FlashAttention-2, algorithm 1).
//
// Shapes, masks: as attention.comp.
// Owner: a workgroup computes ROWS rows of one head of o. Keys that none of the rows sees are skipped unless they share
//   a block with others.
// Numerics: q, k, v and the probabilities, which are relative to the running maximum, are rounded to ELEMENT. Logits,
//   maxima, sums of exponentials, lse and o are fp32.
#include "attention/coopmat/attention_coopmat2.glsl"

#define ARGS Out o; Out lse;
#include "attention/attention_args.glsl"

// <q, k> if the query sees the key, else -inf; `at` is the tile's first position, its first key and the number of keys.
float seen(const in uint row, const in uint column, const in float product, const in ivec3 at) {
    const int key = at.y + int(column);
    return key < at.z && visible(key, at.x + int(row)) ? product : never();
}

// Maximum of a row's `top` and a logit, <q, k> times the scale; both in base 2.
float raised(const in uint row, const in uint column, const in float product, const in float top) {
    return max(product * (scale * LOG2_E), top);
}

float weight_beside(const in uint row, const in uint column, const in float product, const in float top) {
    return weight_below(product * (scale * LOG2_E) - top);
}

float shrunk(const in uint row, const in uint column, const in float top, const in float higher) {
    return weight_below(top - higher);
}

float dropped(const in uint row, const in uint column, const in float weight) {
    return weight * kept(own_word[row], block_word[column]);
}

// `weight`, or 0 for an invalid row; `at` is the first row and the number of valid rows.
float counted(const in uint row, const in uint column, const in float weight, const in uvec2 at) {
    return at.x + row < at.y ? weight : 0.0;
}

float inverse(const in uint row, const in uint column, const in float weight) {
    return weight > 0.0 ? 1.0 / weight : 0.0;
}

// Stores lse of each row from the first columns of its maximum and weight; `at` is (batch_head, first row).
float keep_lse(const in uint row, const in uint column, const in float top, const in float weight, const in uvec2 at) {
    if (column == 0 && at.y + row < queries)
        lse.at[at.x * queries + at.y + row] = weight > 0.0 ? top + log2(weight) : uintBitsToFloat(0x7F800000);
    return top;
}

void main() {
    const uint blocks = (queries + ROWS - 1) / ROWS;
    const uint head = group_index() / blocks % HEADS;
    const uint batch = group_index() / blocks / HEADS;
    if (batch >= batches) return;  // the whole workgroup
    const uint first = balanced_block(group_index() % blocks, blocks) * ROWS;
    const uint batch_head = batch * HEADS + head;
    const MaskRow mask = mask_row(batch);
    const uint q_base = batch * queries * q_pitch + head * D;
    const uint k_base = batch * keys * k_pitch + head / GQA_GROUP * D;
    const uint v_base = batch * keys * v_pitch + head / GQA_GROUP * D_V;
    const uint o_base = batch * queries * HEADS * D_V + head * D_V;

    LEFT(ROWS, WIDTH) rows;
    LOAD(rows, q, LAYOUT, q_base, q_pitch, uvec2(mask.queries, D), uvec2(first, 0), OWN);
    if (DROPOUT)
        for (uint i = gl_LocalInvocationID.x; i < ROWS; i += GROUP) own_word[i] = query_word(batch_head, first + i);
    TOTAL_V sum = TOTAL_V(0.0);
    TILE weight = TILE(0.0);  // sum of exponentials of each row
    TILE top = TILE(LOWEST);  // maximum of each row
    TOTAL_V factor;
    uvec2 visited = keys_of(mask, first, ROWS, BLOCK_K);
    for (; visited.x < visited.y; visited = next_keys(visited, mask, first, ROWS, BLOCK_K)) {
        const uint start = visited.x;
        if (DROPOUT) {
            barrier();  // all are done with the previous words
            for (uint j = gl_LocalInvocationID.x; j < BLOCK_K; j += GROUP)
                block_word[j] = key_word(batch_head, start + j);
            barrier();
        }
        RIGHT(WIDTH, BLOCK_K) columns;
        LOAD_TRANSPOSED(columns, k, LAYOUT, k_base, k_pitch, uvec2(mask.keys, D), uvec2(start, 0), BLOCK);
        TILE p = coopMatMulAdd(rows, columns, TILE(0.0));
        if (!all_visible(mask, first, ROWS, start, BLOCK_K))
            coopMatPerElementNV(p, p, seen, ivec3(int(first) + mask.shift, start, mask.keys));
        TILE highest, shrink, more;
        coopMatReduceNV(highest, p, gl_CooperativeMatrixReduceRowNV, larger_of);
        coopMatPerElementNV(highest, highest, raised, top);
        coopMatPerElementNV(shrink, top, shrunk, highest);
        coopMatPerElementNV(p, p, weight_beside, highest);
        top = highest;
        coopMatReduceNV(more, p, gl_CooperativeMatrixReduceRowNV, sum_of);
        weight = weight * shrink + more;
        coopMatReduceNV(factor, shrink, gl_CooperativeMatrixReduceRowNV, larger_of);  // as wide as o
        if (DROPOUT) coopMatPerElementNV(p, p, dropped);
        RIGHT(BLOCK_K, WIDTH_V) values;
        LOAD(values, v, LAYOUT, v_base, v_pitch, uvec2(mask.keys, D_V), uvec2(start, 0), BLOCK_V);
        ROUND(p);
        sum = coopMatMulAdd(as_weights(p), values, sum * factor);
    }

    if (QUERY_LENGTHS) coopMatPerElementNV(weight, weight, counted, uvec2(first, mask.queries));
    coopMatPerElementNV(top, top, keep_lse, weight, uvec2(batch_head, first));
    coopMatPerElementNV(weight, weight, inverse);
    coopMatReduceNV(factor, weight, gl_CooperativeMatrixReduceRowNV, larger_of);
    sum = sum * factor;
    STORE(sum, o, LAYOUT_O, o_base, HEADS * D_V, uvec2(queries, D_V), uvec2(first, 0), OWN_V);
}
