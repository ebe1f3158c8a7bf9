// attention_backward_kv.comp by matrices of a whole workgroup:
//     dv_j = Σ_i p_ij g_i + addend_j,   dk_j = scale Σ_i p_ij (<g_i, v_j> - delta_i) q_i.
//
// Shapes: as attention_backward_kv.comp.
// Owner: a workgroup makes ROWS rows of one key head, over all query heads that read it, in a fixed order: heads
//   outside, query tiles inside. Query tiles before the causal edge are not visited.
// Numerics: q, k, v, g, p and ds are rounded to ELEMENT; delta and lse are fp32.
#include "lib/attention_coopmat2.glsl"

layout(constant_id = 8) const bool ADDEND = false;  // dense, as dv

#define ARGS In lse; In g; In delta; In addend; Out dk; Out dv; uint dk_pitch; uint dv_pitch;
#include "lib/attention_args.glsl"

// p of a pair; `at` is the tile's first key, its first query and where the head's queries begin in lse and delta.
float probability(const in uint row, const in uint column, const in float product, const in uvec3 at) {
    const uint query = at.y + column;
    const int position = int(query) + int(keys) - int(queries);
    if (query >= queries || !visible(int(at.x + row), position)) return 0.0;
    return exp2_below(product * (scale * LOG2_E) - lse.at[at.z + query]);
}

float dropped(const in uint row, const in uint column, const in float p) {
    return p * kept(met_word[column], own_word[row]);
}

// ds of a pair from <g, v> and p; `at` as above.
float slope(const in uint row, const in uint column, const in float up, const in float p, const in uvec3 at) {
    const uint query = at.y + column;
    if (query >= queries || lone(mask_row(0), int(query) + int(keys) - int(queries))) return 0.0;
    return p * ((DROPOUT ? up * kept(met_word[column], own_word[row]) : up) - delta.at[at.z + query]);
}

float scaled(const in uint row, const in uint column, const in float x) { return x * scale; }

// `at` is the first key and where its head begins in the addend.
float with_addend(const in uint row, const in uint column, const in float x, const in uvec2 at) {
    if (at.x + row >= keys || column >= D) return x;  // not stored
    return x + load_one(addend, at.y + (at.x + row) * (HEADS / GQA_GROUP) * D + column, LAYOUT);
}

void main() {
    const uint blocks = (keys + ROWS - 1) / ROWS;
    const uint key_heads = HEADS / GQA_GROUP;
    const uint key_head = group_index() / blocks % key_heads;
    const uint batch = group_index() / blocks / key_heads;
    if (batch >= batches) return;  // the whole workgroup
    const uint first = fair_block(group_index() % blocks, blocks) * ROWS;
    const MaskRow mask = mask_row(batch);
    const uvec2 visitors = queries_of(mask, first, ROWS);
    const uint k_base = batch * keys * k_pitch + key_head * D;
    const uint v_base = batch * keys * v_pitch + key_head * D;
    const uint dk_base = batch * keys * dk_pitch + key_head * D;
    const uint dv_base = batch * keys * dv_pitch + key_head * D;

    LEFT(ROWS, WIDTH) k_rows, v_rows;
    LOAD(k_rows, k, LAYOUT, k_base, k_pitch, uvec2(keys, D), uvec2(first, 0), OWN);
    LOAD(v_rows, v, LAYOUT, v_base, v_pitch, uvec2(keys, D), uvec2(first, 0), OWN);
    TOTAL k_sum = TOTAL(0.0), v_sum = TOTAL(0.0);

    [[dont_unroll]] for (uint head = key_head * GQA_GROUP; head < (key_head + 1) * GQA_GROUP; ++head) {
        const uint batch_head = batch * HEADS + head;
        const uint q_base = batch * queries * q_pitch + head * D;
        const uint g_base = batch * queries * HEADS * D + head * D;
        for (uint start = visitors.x; start < visitors.y; start += OTHERS) {
            if (DROPOUT) {
                barrier();  // everyone is done with the previous words
                for (uint i = gl_LocalInvocationID.x; i < ROWS; i += GROUP)
                    own_word[i] = key_word(batch_head, first + i);
                for (uint j = gl_LocalInvocationID.x; j < OTHERS; j += GROUP)
                    met_word[j] = query_word(batch_head, start + j);
                barrier();
            }
            const uvec3 at = uvec3(first, start, batch_head * queries);
            RIGHT(WIDTH, OTHERS) columns;
            RIGHT(OTHERS, WIDTH) others;
            LOAD_TRANSPOSED(columns, q, LAYOUT, q_base, q_pitch, uvec2(queries, D), uvec2(start, 0), MET);
            TILE p = coopMatMulAdd(k_rows, columns, TILE(0.0));
            coopMatPerElementNV(p, p, probability, at);
            TILE weight = p;
            if (DROPOUT) coopMatPerElementNV(weight, p, dropped);
            LOAD(others, g, LAYOUT, g_base, HEADS * D, uvec2(queries, D), uvec2(start, 0), MET);
            v_sum = coopMatMulAdd(as_weights(weight), others, v_sum);
            LOAD_TRANSPOSED(columns, g, LAYOUT, g_base, HEADS * D, uvec2(queries, D), uvec2(start, 0), MET);
            TILE ds = coopMatMulAdd(v_rows, columns, TILE(0.0));
            coopMatPerElementNV(ds, ds, slope, p, at);
            LOAD(others, q, LAYOUT, q_base, q_pitch, uvec2(queries, D), uvec2(start, 0), MET);
            k_sum = coopMatMulAdd(as_weights(ds), others, k_sum);
        }
    }
    coopMatPerElementNV(k_sum, k_sum, scaled);
    STORE(k_sum, dk, LAYOUT, dk_base, dk_pitch, uvec2(keys, D), uvec2(first, 0), OWN);
    if (ADDEND)
        coopMatPerElementNV(v_sum, v_sum, with_addend, uvec2(first, (batch * keys * key_heads + key_head) * D));
    STORE(v_sum, dv, LAYOUT, dv_base, dv_pitch, uvec2(keys, D), uvec2(first, 0), OWN);
}
