// attention.comp for a few queries, as decoding has them, with the lanes along the keys:
// o = softmax(scale q kᵀ) v by blocks of query rows, the running maximum subtracted (FlashAttention-2,
// algorithm 1; BeliefFormer eq 6-9).
//
// Shapes: q [B,T,M·D], k v [B,S,N·D], each with its pitch; o [B,T,M·D] and lse [B,M,T] dense. Query head m
//   reads key head m / SHARE. Row i stands at position i + keys - T.
// Owner: one subgroup makes ROWS rows of one head of o. Key tiles behind the causal edge are not visited.
// Numerics: fp32; exponents of differences, in base 2 as in attention.comp. A row that sees no key: o = 0 and
//   lse = +inf, which makes the backward pass's 2^(s - lse) zero.
#version 460
#include "lib/args.glsl"
#include "lib/attention_few.glsl"

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
    uint blocks = (queries + ROWS - 1) / ROWS;
    uint index = group_index() * (GROUP / SUBGROUP) + gl_SubgroupID;
    uint head = index / blocks % HEADS;
    uint batch = index / blocks / HEADS;
    if (batch >= batches) return;
    uint first = fair_block(index % blocks, blocks) * ROWS;
    uint plane = batch * HEADS + head;
    uint count = LENGTH ? min(uint(max(length.at[0], 0)), keys) : keys;
    int shift = int(count) - int(queries);
    uint end = CAUSAL ? uint(clamp(int(first + ROWS) + shift, 0, int(count))) : count;

    float row[HELD];
    float sum[HELD];
    float weight[ROWS];  // this lane's share of each row's sum of exponentials
    float top[STATS];
    uint row_word[STATS];
    load_rows(q, batch * queries * q_pitch + head * D, q_pitch, first, queries, row);
    const float in_base_2 = scale * LOG2_E;
    [[unroll]] for (uint i = 0; i < HELD; ++i) {
        row[i] *= in_base_2;
        sum[i] = 0.0;
    }
    [[unroll]] for (uint r = 0; r < ROWS; ++r) weight[r] = 0.0;
    [[unroll]] for (uint i = 0; i < STATS; ++i) {
        top[i] = LOWEST;
        if (DROPOUT) row_word[i] = query_word(plane, first + i * SUBGROUP + lane());
    }

    uint k_base = batch * keys * k_pitch + head / SHARE * D;
    uint v_base = batch * keys * v_pitch + head / SHARE * D;
    [[dont_unroll]] for (uint start = 0; start < end; start += SUBGROUP) {
        uint key = start + lane();
        float p[ROWS];
        [[unroll]] for (uint r = 0; r < ROWS; ++r) p[r] = 0.0;
        dot_rows(row, k, k_base + min(key, count - 1) * k_pitch, p);
        [[unroll]] for (uint r = 0; r < ROWS; ++r) {
            bool seen = key < count && visible(int(key), int(first + r) + shift);
            const float x = p[r];
            p[r] = seen ? x : HIDDEN;
        }

        float highest[STATS];
        float shrink[STATS];
        fold(p, true, highest);
        [[unroll]] for (uint i = 0; i < STATS; ++i) {
            highest[i] = max(highest[i], top[i]);
            shrink[i] = exp2_below(top[i] - highest[i]);
            top[i] = highest[i];
        }
        uint word = DROPOUT ? key_word(plane, key) : 0;
        [[unroll]] for (uint r = 0; r < ROWS; ++r) {
            float less = of_row(shrink, r);
            p[r] = exp2_below(p[r] - of_row(top, r));
            weight[r] = weight[r] * less + p[r];
            [[unroll]] for (uint c = 0; c < CHUNKS; ++c) sum[r * CHUNKS + c] *= less;
            if (DROPOUT) p[r] *= kept(of_row(row_word, r), word);
        }
        add_rows(p, v, v_base, v_pitch, start, count, sum);
    }

    float total[STATS];
    float inverse[STATS];
    fold(weight, false, total);
    [[unroll]] for (uint i = 0; i < STATS; ++i) {
        bool some = total[i] > 0.0;
        inverse[i] = some ? 1.0 / total[i] : 0.0;
        uint r = i * SUBGROUP + lane();
        if (r < ROWS && first + r < queries)
            lse.at[plane * queries + first + r] =
                some ? top[i] + log2(total[i]) : uintBitsToFloat(0x7F800000);
    }
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        float factor = of_row(inverse, r);
        [[unroll]] for (uint c = 0; c < CHUNKS; ++c) sum[r * CHUNKS + c] *= factor;
    }
    store_rows(o, batch * queries * HEADS * D + head * D, HEADS * D, first, queries, sum);
}
