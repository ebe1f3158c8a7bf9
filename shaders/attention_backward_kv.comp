// dk and dv of attention; FlashAttention-2, algorithm 2, turned round so that no sum needs an atomic:
//     dv_j = Σ_i p_ij g_i,   dk_j = scale Σ_i p_ij (<g_i, v_j> − delta_i) q_i.
//
// Shapes: as attention_backward_q.comp, whose delta it reads; dk and dv [B,S,N·D], each with its own pitch.
// Owns: one subgroup makes ROWS rows of one key head, over all query heads that read it, in a fixed order: query heads
// outside, query tiles inside. Query tiles before the causal edge are not visited.
#version 460
#include "lib/args.glsl"
#include "lib/attention.glsl"
#include "lib/random.glsl"

layout(push_constant, scalar) uniform Args {
    In q; In k; In v; In lse; In g; In delta;
    Out dk; Out dv;
    InInt seed;
    uint batches; uint heads; uint share;
    uint queries; uint keys;
    uint q_pitch; uint k_pitch; uint v_pitch; uint dk_pitch; uint dv_pitch;
    float scale; float drop; uint salt;
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
    [[dont_unroll]] for (uint member = 0; member < share; ++member) {
        uint head = key_head * share + member;
        uint plane = batch * heads + head;
        uint q_base = batch * queries * q_pitch + head * D;
        uint g_base = batch * queries * heads * D + head * D;
        uint row_word[STATS];
        if (DROPOUT) {
            [[unroll]] for (uint i = 0; i < STATS; ++i) {
                row_word[i] = key_word(plane, first + i * SUBGROUP + lane());
            }
        }
        [[dont_unroll]] for (uint start = begin; start < queries; start += TILE) {
            float p[PAIRS];
            float ds[PAIRS];
            [[unroll]] for (uint i = 0; i < PAIRS; ++i) {
                p[i] = 0.0;
                ds[i] = 0.0;
            }
            [[unroll]] for (uint set = 0; set < SETS; ++set) {
                uint query = start + set * SUBGROUP + lane();
                uint clamped = min(query, queries - 1);
                uint word = DROPOUT ? query_word(plane, query) : 0;
                float query_lse = lse.at[plane * queries + clamped];
                float query_delta = delta.at[plane * queries + clamped];
                dot_rows(k_row, q, q_base + clamped * q_pitch, set, p);
                dot_rows(v_row, g, g_base + clamped * heads * D, set, ds);
                [[unroll]] for (uint r = 0; r < ROWS; ++r) {
                    uint at = set * ROWS + r;
                    float e = exp_below(p[at] * scale - query_lse);
                    e = visible(int(first + r), int(query) + shift) && query < queries ? e : 0.0;
                    float dp = ds[at];
                    p[at] = e;
                    if (DROPOUT) {
                        float keep = kept(word, subgroupBroadcast(row_word[r / SUBGROUP], r % SUBGROUP));
                        dp *= keep;
                        p[at] *= keep;
                    }
                    ds[at] = e * (dp - query_delta);
                }
                [[unroll]] for (uint j = 0; j < SUBGROUP; ++j) {
                    uint query = min(start + set * SUBGROUP + j, queries - 1);
                    add_row(p, set, j, g, g_base + query * heads * D, v_sum);
                    add_row(ds, set, j, q, q_base + query * q_pitch, k_sum);
                }
            }
        }
    }
    [[unroll]] for (uint i = 0; i < HELD; ++i) k_sum[i] *= scale;
    store_rows(dk, batch * keys * dk_pitch + key_head * D, dk_pitch, first, keys, k_sum);
    store_rows(dv, batch * keys * dv_pitch + key_head * D, dv_pitch, first, keys, v_sum);
}
