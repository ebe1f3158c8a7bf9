// dq of attention, and delta_i = <g_i, o_i>, which dk needs too (FlashAttention-2, algorithm 2):
//     p = exp(s - lse),   ds = p (<g, v> - delta),   dq = scale ds k.
//
// Shapes: as attention.comp, with g = dL/do and o dense and delta [B,M,T]; dq has its own pitch.
// Owner: one subgroup makes ROWS rows of one head of dq. Probabilities are made again, never stored.
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
    uint heads;
    uint share;
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
    uint blocks = (queries + ROWS - 1) / ROWS;
    uint index = group_index() * (GROUP / SUBGROUP) + gl_SubgroupID;
    uint head = index / blocks % heads;
    uint batch = index / blocks / heads;
    if (batch >= batches) return;
    uint first = fair_block(index % blocks, blocks) * ROWS;
    uint plane = batch * heads + head;
    int shift = int(keys) - int(queries);
    uint end = CAUSAL ? uint(clamp(int(first + ROWS) + shift, 0, int(keys))) : keys;

    float row[HELD];
    float up[HELD];  // rows of g
    float sum[HELD];
    uint o_base = batch * queries * heads * D + head * D;
    load_rows(o, o_base, heads * D, first, queries, row);
    load_rows(g, o_base, heads * D, first, queries, up);
    float product[ROWS];
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        product[r] = 0.0;
        [[unroll]] for (uint c = 0; c < CHUNKS; ++c) {
            bool own = c / VEC * COLUMNS + lane() * VEC < D;
            product[r] += own ? row[r * CHUNKS + c] * up[r * CHUNKS + c] : 0.0;
        }
    }
    float row_lse[STATS];
    float row_delta[STATS];
    uint row_word[STATS];
    fold(product, false, row_delta);
    [[unroll]] for (uint i = 0; i < STATS; ++i) {
        uint r = i * SUBGROUP + lane();
        row_lse[i] = lse.at[plane * queries + min(first + r, queries - 1)];
        if (r < ROWS && first + r < queries) delta.at[plane * queries + first + r] = row_delta[i];
        if (DROPOUT) row_word[i] = query_word(plane, first + r);
    }
    load_rows(q, batch * queries * q_pitch + head * D, q_pitch, first, queries, row);
    [[unroll]] for (uint i = 0; i < HELD; ++i) sum[i] = 0.0;

    uint k_base = batch * keys * k_pitch + head / share * D;
    uint v_base = batch * keys * v_pitch + head / share * D;
    [[dont_unroll]] for (uint start = 0; start < end; start += SUBGROUP) {
        uint key = start + lane();
        float p[ROWS];
        float ds[ROWS];
        [[unroll]] for (uint r = 0; r < ROWS; ++r) {
            p[r] = 0.0;
            ds[r] = 0.0;
        }
        dot_rows(row, k, k_base + min(key, keys - 1) * k_pitch, p);
        dot_rows(up, v, v_base + min(key, keys - 1) * v_pitch, ds);
        uint word = DROPOUT ? key_word(plane, key) : 0;
        [[unroll]] for (uint r = 0; r < ROWS; ++r) {
            bool seen = key < keys && visible(int(key), int(first + r) + shift);
            float e = seen ? exp_below(p[r] * scale - of_row(row_lse, r)) : 0.0;
            if (DROPOUT) ds[r] *= kept(of_row(row_word, r), word);
            ds[r] = lone(int(first + r) + shift) ? 0.0 : e * (ds[r] - of_row(row_delta, r));
        }
        add_rows(ds, k, k_base, k_pitch, start, keys, sum);
    }
    [[unroll]] for (uint i = 0; i < HELD; ++i) sum[i] *= scale;
    store_rows(dq, batch * queries * dq_pitch + head * D, dq_pitch, first, queries, sum);
}
