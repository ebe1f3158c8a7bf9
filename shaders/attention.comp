// o = softmax(scale q kᵀ) v by blocks of query rows, the running maximum subtracted (FlashAttention-2,
// algorithm 1; BeliefFormer eq 6-9).
//
// Shapes: q [B,T,M·D], k v [B,S,N·D], each with its pitch; o [B,T,M·D] and lse [B,M,T] dense. Query head m
//   reads key head m / SHARE. Row i stands at position i + keys - T.
// Owner: one subgroup makes BLOCKS · SUBGROUP rows of one head of o. Keys behind the causal edge are not visited.
// Numerics: fp32; exponents of differences. Logits and lse are in base 2: what is raised is 2, not e. A row that sees
//   no key: o = 0 and lse = +inf, which makes the backward pass's 2^(s - lse) zero.
#version 460
#include "lib/args.glsl"
#include "lib/attention.glsl"

layout(constant_id = 8) const bool LENGTH = false;  // there are length[0] keys, `keys` is only room for them

layout(push_constant, scalar) uniform Args {
    In q;
    In k;
    In v;
    Out o;
    Out lse;
    InInt length;
    InInt seed;
    uint batches;
    uint queries;
    uint keys;
    uint q_pitch;
    uint k_pitch;
    uint v_pitch;
    float scale;
    float drop;
    uint salt;
};

#include "lib/attention_mask.glsl"

void main() {
    const uint blocks = (queries + ROWS - 1) / ROWS;
    const uint index = group_index() * (GROUP / SUBGROUP) + gl_SubgroupID;
    const uint head = index / blocks % HEADS;
    const uint batch = index / blocks / HEADS;
    if (batch >= batches) return;
    const uint first = fair_block(index % blocks, blocks) * ROWS;
    const uint plane = batch * HEADS + head;
    const uint count = LENGTH ? min(uint(max(length.at[0], 0)), keys) : keys;
    const int shift = int(count) - int(queries);
    const uint end = CAUSAL ? uint(clamp(int(first + ROWS) + shift, 0, int(count))) : count;

    float row[HELD];
    float sum[HELD];
    float weight[BLOCKS];  // sum of the row's exponentials so far
    float top[BLOCKS];
    uint row_word[BLOCKS];
    load_own(q, batch * queries * q_pitch + head * D, q_pitch, first, queries, row);
    const float in_base_2 = scale * LOG2_E;
    [[unroll]] for (uint i = 0; i < HELD; ++i) {
        row[i] *= in_base_2;
        sum[i] = 0.0;
    }
    [[unroll]] for (uint b = 0; b < BLOCKS; ++b) {
        weight[b] = 0.0;
        top[b] = LOWEST;
        if (DROPOUT) row_word[b] = query_word(plane, own_row(first, b));
    }

    const uint k_base = batch * keys * k_pitch + head / SHARE * D;
    const uint v_base = batch * keys * v_pitch + head / SHARE * D;
    [[dont_unroll]] for (uint start = 0; start < end; start += TURN) {
        float met[MET];
        float p[TILE];
        load_met(k, k_base, k_pitch, start, count, met);
        dot_rows(row, met, p);
        const uint word = DROPOUT ? key_word(plane, start + lane()) : 0;
        [[unroll]] for (uint b = 0; b < BLOCKS; ++b) {
            float highest = top[b];
            [[unroll]] for (uint j = 0; j < TURN; ++j) {
                const uint key = start + j;
                const bool seen = key < count && visible(int(key), int(own_row(first, b)) + shift);
                const float x = p[j * BLOCKS + b];
                p[j * BLOCKS + b] = seen ? x : HIDDEN;
                highest = larger(p[j * BLOCKS + b], highest);
            }
            const float less = exp2_below(top[b] - highest);
            top[b] = highest;
            weight[b] *= less;
            [[unroll]] for (uint j = 0; j < TURN; ++j) {
                const float e = exp2_below(p[j * BLOCKS + b] - highest);
                weight[b] += e;
                p[j * BLOCKS + b] = DROPOUT ? e * kept(row_word[b], subgroupBroadcast(word, j)) : e;
            }
            [[unroll]] for (uint d = 0; d < D; ++d) sum[b * D + d] *= less;
        }
        load_met(v, v_base, v_pitch, start, count, met);
        add_rows(p, met, sum);
    }

    [[unroll]] for (uint b = 0; b < BLOCKS; ++b) {
        const bool some = weight[b] > 0.0;
        const float inverse = some ? 1.0 / weight[b] : 0.0;
        [[unroll]] for (uint d = 0; d < D; ++d) sum[b * D + d] *= inverse;
        if (own_row(first, b) < queries)
            lse.at[plane * queries + own_row(first, b)] =
                some ? top[b] + log2(weight[b]) : uintBitsToFloat(0x7F800000);
    }
    store_own(o, batch * queries * HEADS * D + head * D, HEADS * D, first, queries, sum);
}
