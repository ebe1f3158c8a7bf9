// dk and dv of attention (FlashAttention-2, algorithm 2, turned round so that no sum needs an atomic):
//     dv_j = Σ_i p_ij g_i,   dk_j = scale Σ_i p_ij (<g_i, v_j> - delta_i) q_i.
//
// Shapes: as attention_backward_q.comp, whose delta it reads; dk and dv [B,S,N·D] with their own pitches.
// Owner: one subgroup makes ROWS rows of one key head, over all query heads that read it, in a fixed order:
//   heads outside, query tiles inside. Query tiles before the causal edge are not visited.
#version 460
#include "lib/args.glsl"
#include "lib/attention.glsl"

layout(push_constant, scalar) uniform Args {
    In q;
    In k;
    In v;
    In lse;
    In g;
    In delta;
    Out dk;
    Out dv;
    InInt seed;
    uint batches;
    uint heads;
    uint share;
    uint queries;
    uint keys;
    uint q_pitch;
    uint k_pitch;
    uint v_pitch;
    uint dk_pitch;
    uint dv_pitch;
    float scale;
    float drop;
    uint salt;
};

#include "lib/attention_mask.glsl"

void main() {
    uint blocks = (keys + ROWS - 1) / ROWS;
    uint key_heads = heads / share;
    uint index = group_index() * (GROUP / SUBGROUP) + gl_SubgroupID;
    uint key_head = index / blocks % key_heads;
    uint batch = index / blocks / key_heads;
    if (batch >= batches) return;
    uint first = fair_block(index % blocks, blocks) * ROWS;
    int shift = int(keys) - int(queries);
    uint begin = CAUSAL ? uint(max(int(first) - shift, 0)) : 0;

    float k_row[HELD];
    float v_row[HELD];
    float k_sum[HELD];
    float v_sum[HELD];
    load_rows(k, batch * keys * k_pitch + key_head * D, k_pitch, first, keys, k_row);
    load_rows(v, batch * keys * v_pitch + key_head * D, v_pitch, first, keys, v_row);
    [[unroll]] for (uint i = 0; i < HELD; ++i) {
        k_sum[i] = 0.0;
        v_sum[i] = 0.0;
    }
    [[dont_unroll]] for (uint head = key_head * share; head < (key_head + 1) * share; ++head) {
        uint plane = batch * heads + head;
        uint q_base = batch * queries * q_pitch + head * D;
        uint g_base = batch * queries * heads * D + head * D;
        uint row_word[STATS];
        [[unroll]] for (uint i = 0; i < STATS; ++i)
            if (DROPOUT) row_word[i] = key_word(plane, first + i * SUBGROUP + lane());

        [[dont_unroll]] for (uint start = begin; start < queries; start += SUBGROUP) {
            uint query = start + lane();
            uint own = min(query, queries - 1);
            float query_lse = lse.at[plane * queries + own];
            float query_delta = delta.at[plane * queries + own];
            float p[ROWS];
            float ds[ROWS];
            [[unroll]] for (uint r = 0; r < ROWS; ++r) {
                p[r] = 0.0;
                ds[r] = 0.0;
            }
            dot_rows(k_row, q, q_base + own * q_pitch, p);
            dot_rows(v_row, g, g_base + own * heads * D, ds);
            uint word = DROPOUT ? query_word(plane, query) : 0;
            [[unroll]] for (uint r = 0; r < ROWS; ++r) {
                bool seen = query < queries && visible(int(first + r), int(query) + shift);
                float e = seen ? exp_below(p[r] * scale - query_lse) : 0.0;
                float keep = DROPOUT ? kept(word, of_row(row_word, r)) : 1.0;
                p[r] = e * keep;
                ds[r] = lone(int(query) + shift) ? 0.0 : e * (ds[r] * keep - query_delta);
            }
            add_rows(p, g, g_base, heads * D, start, queries, v_sum);
            add_rows(ds, q, q_base, q_pitch, start, queries, k_sum);
        }
    }
    [[unroll]] for (uint i = 0; i < HELD; ++i) k_sum[i] *= scale;
    store_rows(dk, batch * keys * dk_pitch + key_head * D, dk_pitch, first, keys, k_sum);
    store_rows(dv, batch * keys * dv_pitch + key_head * D, dv_pitch, first, keys, v_sum);
}
