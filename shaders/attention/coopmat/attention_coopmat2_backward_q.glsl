// attention_backward_q.comp with matrices of a whole workgroup: dq and, unless delta is given, delta_i = <g_i, o_i>,
// which dk needs, too:
//     p = 2^(s - lse) with both in base 2,   ds = p (<g, v> - delta),   dq = scale ds k.
//
// Shapes: as attention_backward_q.comp. Owner, blocks visited: as attention_coopmat2.comp, with dq in place of o.
// Numerics: q, k, v, g and ds are rounded to ELEMENT; delta is fp32, from g and o as stored. Rows without a key and
//   invalid rows have lse = +inf, hence p = 0, and delta = 0: dq = 0 exactly.
#include "attention/coopmat/attention_coopmat2.glsl"

#define ARGS In o; In given_delta; In lse; In g; Out delta; Out dq; uint dq_pitch;
#include "attention/attention_args.glsl"

// Term of delta; `at` is the first query, the first element of its head in o and g, and the number of valid queries.
float share_of_delta(const in uint row, const in uint column, const in float x, const in uvec3 at) {
    const uint i = at.y + (at.x + row) * HEADS * D_V + column;
    return at.x + row < at.z && column < D_V ? load_one(g, i, LAYOUT) * load_one(o, i, LAYOUT) : 0.0;
}

// Stores the first column of each row's delta; `at` is (batch_head, first query).
float keep_delta(const in uint row, const in uint column, const in float x, const in uvec2 at) {
    if (column == 0 && at.y + row < queries) delta.at[at.x * queries + at.y + row] = x;
    return x;
}

// Given delta, 0 for invalid rows; `at` is (batch_head, first query, number of valid queries).
float delta_of(const in uint row, const in uint column, const in float x, const in uvec3 at) {
    return at.y + row < at.z ? given_delta.at[at.x * queries + at.y + row] : 0.0;
}

float lse_of(const in uint row, const in uint column, const in float x, const in uvec2 at) {
    return lse.at[at.x * queries + min(at.y + row, queries - 1)];
}

// ds of a pair from <g, v>, <q, k> and the row's lse and delta.
float slope(const in uint row, const in uint column, const in float up, const in float product, const in float row_lse,
            const in float row_delta) {
    const float p = weight_below(product * (scale * LOG2_E) - row_lse);
    return p * ((DROPOUT ? up * kept(own_word[row], block_word[column]) : up) - row_delta);
}

// ds if the query sees the key and others, else 0; `at` is the tile's first position and first key, `mask` the members
// of the MaskRow, because compilers rarely see structures as arguments.
float seen(const in uint row, const in uint column, const in float ds, const in ivec2 at, const in ivec3 mask) {
    const int key = at.y + int(column), position = at.x + int(row);
    if (key >= mask.y || !visible(key, position) || sees_one_key(MaskRow(mask.x, mask.y, mask.z), position)) return 0.0;
    return ds;
}

float scaled(const in uint row, const in uint column, const in float x) { return x * scale; }

void main() {
    const uint blocks = (queries + ROWS - 1) / ROWS;
    const uint head = group_index() / blocks % HEADS;
    const uint batch = group_index() / blocks / HEADS;
    if (batch >= batches) return;  // the whole workgroup
    const uint first = balanced_block(group_index() % blocks, blocks) * ROWS;
    const uint batch_head = batch * HEADS + head;
    const MaskRow mask = mask_row(batch);
    const uint q_base = batch * queries * q_pitch + head * D;
    const uint o_base = batch * queries * HEADS * D_V + head * D_V;
    const uint k_base = batch * keys * k_pitch + head / GQA_GROUP * D;
    const uint v_base = batch * keys * v_pitch + head / GQA_GROUP * D_V;
    const uint dq_base = batch * queries * dq_pitch + head * D;

    LEFT(ROWS, WIDTH) q_rows;
    LEFT(ROWS, WIDTH_V) g_rows;
    LOAD(q_rows, q, LAYOUT, q_base, q_pitch, uvec2(mask.queries, D), uvec2(first, 0), OWN);
    LOAD(g_rows, g, LAYOUT, o_base, HEADS * D_V, uvec2(mask.queries, D_V), uvec2(first, 0), OWN_V);
    if (DROPOUT)
        for (uint i = gl_LocalInvocationID.x; i < ROWS; i += GROUP) own_word[i] = query_word(batch_head, first + i);
    TOTAL_V terms;
    TILE row_delta, row_lse;
    if (GIVEN_DELTA) {
        coopMatPerElementNV(row_delta, TILE(0.0), delta_of, uvec3(batch_head, first, mask.queries));
    } else {
        coopMatPerElementNV(terms, TOTAL_V(0.0), share_of_delta, uvec3(first, o_base, mask.queries));
        coopMatReduceNV(row_delta, terms, gl_CooperativeMatrixReduceRowNV, sum_of);
        coopMatPerElementNV(row_delta, row_delta, keep_delta, uvec2(batch_head, first));
    }
    coopMatPerElementNV(row_lse, TILE(0.0), lse_of, uvec2(batch_head, first));
    TOTAL sum = TOTAL(0.0);

    uvec2 visited = keys_of(mask, first, ROWS, BLOCK_K);
    for (; visited.x < visited.y; visited = next_keys(visited, mask, first, ROWS, BLOCK_K)) {
        const uint start = visited.x;
        if (DROPOUT) {
            barrier();  // all are done with the previous words
            for (uint j = gl_LocalInvocationID.x; j < BLOCK_K; j += GROUP)
                block_word[j] = key_word(batch_head, start + j);
            barrier();
        }
        RIGHT(WIDTH, BLOCK_K) k_columns;
        LOAD_TRANSPOSED(k_columns, k, LAYOUT, k_base, k_pitch, uvec2(mask.keys, D), uvec2(start, 0), BLOCK);
        TILE product = coopMatMulAdd(q_rows, k_columns, TILE(0.0));
        RIGHT(WIDTH_V, BLOCK_K) v_columns;
        LOAD_TRANSPOSED(v_columns, v, LAYOUT, v_base, v_pitch, uvec2(mask.keys, D_V), uvec2(start, 0), BLOCK_V);
        TILE ds = coopMatMulAdd(g_rows, v_columns, TILE(0.0));
        coopMatPerElementNV(ds, ds, slope, product, row_lse, row_delta);
        if (!all_visible(mask, first, ROWS, start, BLOCK_K))
            coopMatPerElementNV(ds, ds, seen, ivec2(int(first) + mask.shift, start),
                                ivec3(mask.queries, mask.keys, mask.shift));
        RIGHT(BLOCK_K, WIDTH) k_rows;
        LOAD(k_rows, k, LAYOUT, k_base, k_pitch, uvec2(mask.keys, D), uvec2(start, 0), BLOCK);
        ROUND(ds);
        sum = coopMatMulAdd(as_weights(ds), k_rows, sum);
    }
    coopMatPerElementNV(sum, sum, scaled);
    STORE(sum, dq, LAYOUT, dq_base, dq_pitch, uvec2(queries, D), uvec2(first, 0), OWN);
}
