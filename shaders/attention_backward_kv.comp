// dk and dv of attention (FlashAttention-2, algorithm 2, turned round so that no sum needs an atomic):
//     dv_j = Σ_i p_ij g_i + addend_j,   dk_j = scale Σ_i p_ij (<g_i, v_j> - delta_i) q_i.
//
// Shapes: as attention_backward_q.comp, whose delta it reads; dk and dv [B,S,N·D] with their own pitches.
// Owner: one subgroup makes BLOCKS · SUBGROUP rows of one key head, over all query heads that read it, in a fixed
//   order: heads outside, queries inside. Queries before the causal edge are not visited.
#version 460
#include "lib/args.glsl"
#include "lib/attention.glsl"

layout(constant_id = 8) const bool ADDEND = false;  // dense, as dv

layout(push_constant, scalar) uniform Args {
    In q;
    In k;
    In v;
    In lse;
    In g;
    In delta;
    In addend;
    Out dk;
    Out dv;
    InInt seed;
    uint batches;
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
    const uint blocks = (keys + ROWS - 1) / ROWS;
    const uint key_heads = HEADS / SHARE;
    const uint index = group_index() * (GROUP / SUBGROUP) + gl_SubgroupID;
    const uint key_head = index / blocks % key_heads;
    const uint batch = index / blocks / key_heads;
    if (batch >= batches) return;
    const uint first = fair_block(index % blocks, blocks) * ROWS;
    const int shift = int(keys) - int(queries);
    const uint begin = CAUSAL ? uint(max(int(first) - shift, 0)) : 0;

    float k_row[HELD];
    float v_row[HELD];
    float k_sum[HELD];
    float v_sum[HELD];
    load_own(k, batch * keys * k_pitch + key_head * D, k_pitch, first, keys, k_row);
    load_own(v, batch * keys * v_pitch + key_head * D, v_pitch, first, keys, v_row);
    [[unroll]] for (uint i = 0; i < HELD; ++i) {
        k_sum[i] = 0.0;
        v_sum[i] = 0.0;
    }
    const float in_base_2 = scale * LOG2_E;
    [[dont_unroll]] for (uint head = key_head * SHARE; head < (key_head + 1) * SHARE; ++head) {
        const uint plane = batch * HEADS + head;
        const uint q_base = batch * queries * q_pitch + head * D;
        const uint g_base = batch * queries * HEADS * D + head * D;
        uint row_word[BLOCKS];
        [[unroll]] for (uint b = 0; b < BLOCKS; ++b)
            if (DROPOUT) row_word[b] = key_word(plane, own_row(first, b));

        [[dont_unroll]] for (uint start = begin; start < queries; start += TURN) {
            const uint met_row = plane * queries + min(start + lane(), queries - 1);
            const float met_lse = lse.at[met_row];
            const float met_delta = delta.at[met_row];
            const uint word = DROPOUT ? query_word(plane, start + lane()) : 0;
            float q_met[MET];
            float g_met[MET];
            float p[TILE];
            float ds[TILE];
            load_met(q, q_base, q_pitch, start, queries, q_met);
            // The same numbers in the same order as in the other kernels: a lone key's probability is exactly 1.
            [[unroll]] for (uint i = 0; i < MET; ++i) q_met[i] *= in_base_2;
            dot_rows(k_row, q_met, p);
            load_met(g, g_base, HEADS * D, start, queries, g_met);
            dot_rows(v_row, g_met, ds);
            [[unroll]] for (uint j = 0; j < TURN; ++j) {
                const uint query = start + j;
                const int position = int(query) + shift;
                const float query_lse = subgroupBroadcast(met_lse, j);
                const float query_delta = subgroupBroadcast(met_delta, j);
                const uint query_noise = DROPOUT ? subgroupBroadcast(word, j) : 0;
                [[unroll]] for (uint b = 0; b < BLOCKS; ++b) {
                    const uint i = j * BLOCKS + b;
                    const bool seen = query < queries && visible(int(own_row(first, b)), position);
                    const float e = exp2_below(p[i] - query_lse);
                    const float keep = DROPOUT ? kept(query_noise, row_word[b]) : 1.0;
                    const float shown = e * keep, d_logit = e * (ds[i] * keep - query_delta);
                    p[i] = seen ? shown : 0.0;
                    ds[i] = seen && !lone(position) ? d_logit : 0.0;
                }
            }
            add_rows(p, g_met, v_sum);
            add_rows(ds, q_met, k_sum);
        }
    }
    [[unroll]] for (uint i = 0; i < HELD; ++i) k_sum[i] *= LN_2;
    store_own(dk, batch * keys * dk_pitch + key_head * D, dk_pitch, first, keys, k_sum);
    if (ADDEND) {
        load_own(addend, (batch * keys * key_heads + key_head) * D, key_heads * D, first, keys, v_row);
        [[unroll]] for (uint i = 0; i < HELD; ++i) v_sum[i] += v_row[i];
    }
    store_own(dv, batch * keys * dv_pitch + key_head * D, dv_pitch, first, keys, v_sum);
}
