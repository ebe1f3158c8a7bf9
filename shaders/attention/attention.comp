// o = softmax(scale q kᵀ) v by blocks of query rows, with the running maximum subtracted (FlashAttention-2,
// algorithm 1; BeliefFormer eq 6-9).
//
// Shapes: q [B,T,M·D], k [B,S,N·D], v [B,S,N·D_V], each with its pitch; o [B,T,M·D_V] and lse [B,M,T] dense. Query head
//   m reads key head m / GQA_GROUP. Masks: attention/attention_mask.glsl.
// Owner: one subgroup computes ROWS_PER_LANE · SUBGROUP rows of one head of o. Keys that none of the rows sees are
//   skipped unless they share a block with others.
// Before it is stored, o may be replaced by its discrepancy with, or its component perpendicular to, the values at the
// queries' own positions (attention/attention_epilogue.glsl).
// Numerics: fp32; exponents are differences. Logits and lse are in base 2, so weights are powers of 2, not of e. A row
//   that sees no key has o = 0 and lse = +inf, which makes the backward pass's 2^(s - lse) zero.
#version 460
#include "lib/args.glsl"
#include "attention/attention.glsl"
#include "attention/attention_epilogue.glsl"

#define ARGS Out o; Out lse; EPILOGUE_ARGS
#include "attention/attention_args.glsl"
#include "attention/attention_forward.glsl"

void main() {
    const uint blocks = (queries + ROWS - 1) / ROWS;
    const uint index = group_index() * (GROUP / SUBGROUP) + gl_SubgroupID;
    const uint head = index / blocks % HEADS;
    const uint batch = index / blocks / HEADS;
    if (batch >= batches) return;
    const uint first = balanced_block(index % blocks, blocks) * ROWS;

    float o_tile[OWN];
    attend(batch, head, first, o_tile);
    if (EPILOGUE > 0) {
        float v_tile[OWN];
        load_own(query_values, D_V, batch * queries * own_pitch + head * D_V, own_pitch, first, queries, v_tile,
                 LAYOUT_OWN);
        [[unroll]] for (uint r = 0; r < ROWS_PER_LANE; ++r) {
            const uint row = own_row(first, r);
            float o_v = 0.0, v_v = 0.0;
            [[unroll]] for (uint i = r * D_V; i < (r + 1) * D_V; ++i) {
                o_v += o_tile[i] * v_tile[i];
                v_v += v_tile[i] * v_tile[i];
            }
            const vec2 weights = epilogue_weights(o_v, v_v, by_o, by_v);
            [[unroll]] for (uint i = r * D_V; i < (r + 1) * D_V; ++i)
                o_tile[i] = weights.x * o_tile[i] + weights.y * v_tile[i];
            if (EPILOGUE == PROJECT_OUT && row < queries)
                coefficients.at[(batch * queries + row) * HEADS + head] = projection_coefficient(o_v, v_v);
        }
    }
    store_own(o, D_V, batch * queries * HEADS * D_V + head * D_V, HEADS * D_V, first, queries, o_tile, LAYOUT_O);
}
