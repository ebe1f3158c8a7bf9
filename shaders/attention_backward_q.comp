// dq of attention, and delta_i = <g_i, o_i>, which dk needs too (FlashAttention-2, algorithm 2):
//     p = 2^(s - lse) with both in base 2,   ds = p (<g, v> - delta),   dq = scale ds k.
//
// Shapes: as attention.comp, with g = dL/do and o dense and delta [B,M,T]; dq has its own pitch.
// Owner: one subgroup makes BLOCKS · SUBGROUP rows of one head of dq. Probabilities are made again, never stored.
// Numerics: a row without a key has lse = +inf, hence p = 0, delta = 0 and dq = 0 exactly.
#version 460
#include "lib/args.glsl"
#include "lib/attention.glsl"

layout(push_constant, scalar) uniform Args {
    In q;
    In k;
    In v;
    In o;
    In lse;
    In g;
    Out delta;
    Out dq;
    InInt seed;
    uint batches;
    uint queries;
    uint keys;
    uint q_pitch;
    uint k_pitch;
    uint v_pitch;
    uint dq_pitch;
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
    const int shift = int(keys) - int(queries);
    const uint end = CAUSAL ? uint(clamp(int(first + ROWS) + shift, 0, int(keys))) : keys;

    float row[HELD];
    float up[HELD];  // rows of g
    float sum[HELD];
    float row_lse[BLOCKS];
    float row_delta[BLOCKS];
    uint row_word[BLOCKS];
    const uint o_base = batch * queries * HEADS * D + head * D;
    load_own(o, o_base, HEADS * D, first, queries, row);
    load_own(g, o_base, HEADS * D, first, queries, up);
    [[unroll]] for (uint b = 0; b < BLOCKS; ++b) {
        row_delta[b] = 0.0;
        [[unroll]] for (uint d = 0; d < D; ++d) row_delta[b] += row[b * D + d] * up[b * D + d];
        const uint own = own_row(first, b);
        row_lse[b] = lse.at[plane * queries + min(own, queries - 1)];
        if (own < queries) delta.at[plane * queries + own] = row_delta[b];
        if (DROPOUT) row_word[b] = query_word(plane, own);
    }
    load_own(q, batch * queries * q_pitch + head * D, q_pitch, first, queries, row);
    const float in_base_2 = scale * LOG2_E;
    [[unroll]] for (uint i = 0; i < HELD; ++i) {
        row[i] *= in_base_2;
        sum[i] = 0.0;
    }

    const uint k_base = batch * keys * k_pitch + head / SHARE * D;
    const uint v_base = batch * keys * v_pitch + head / SHARE * D;
    [[dont_unroll]] for (uint start = 0; start < end; start += TURN) {
        float met[MET];
        float p[TILE];
        float ds[TILE];
        load_met(v, v_base, v_pitch, start, keys, met);
        dot_rows(up, met, ds);
        load_met(k, k_base, k_pitch, start, keys, met);
        dot_rows(row, met, p);
        const uint word = DROPOUT ? key_word(plane, start + lane()) : 0;
        [[unroll]] for (uint b = 0; b < BLOCKS; ++b) {
            const int position = int(own_row(first, b)) + shift;
            [[unroll]] for (uint j = 0; j < TURN; ++j) {
                const uint i = j * BLOCKS + b, key = start + j;
                const bool seen = key < keys && visible(int(key), position);
                const float e = exp2_below(p[i] - row_lse[b]);
                if (DROPOUT) ds[i] *= kept(row_word[b], subgroupBroadcast(word, j));
                const float d_logit = e * (ds[i] - row_delta[b]);
                ds[i] = seen && !lone(position) ? d_logit : 0.0;
            }
        }
        add_rows(ds, met, sum);
    }
    [[unroll]] for (uint i = 0; i < HELD; ++i) sum[i] *= scale;
    store_own(dq, batch * queries * dq_pitch + head * D, dq_pitch, first, queries, sum);
}
