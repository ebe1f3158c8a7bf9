// dq of attention and, unless delta is given, delta_i = <g_i, o_i>, which dk needs, too (FlashAttention-2,
// algorithm 2):
//     p = 2^(s - lse) with both in base 2,   ds = p (<g, v> - delta),   dq = scale ds k.
//
// Shapes: as attention.comp, with g = dL/do and o dense and delta [B,M,T]; dq has its own pitch.
// Owner: as attention.comp, with dq in place of o. Probabilities are recomputed, never stored.
// Numerics: a row without a key has lse = +inf, hence p = 0, delta = 0 and dq = 0 exactly.
#version 460
#include "lib/args.glsl"
#include "attention/attention.glsl"

#define ARGS In o; In given_delta; In lse; In g; Out delta; Out dq; uint dq_pitch;
#include "attention/attention_args.glsl"
#include "attention/attention_backward_q.glsl"

void load_g(uint base, uint first, out float g_tile[OWN]) {
    load_own(g, D_V, base, HEADS * D_V, first, queries, g_tile);
}
float load_delta(uint at) { return given_delta.at[at]; }

void main() {
    const uint blocks = (queries + ROWS - 1) / ROWS;
    const uint index = group_index() * (GROUP / SUBGROUP) + gl_SubgroupID;
    const uint head = index / blocks % HEADS;
    const uint batch = index / blocks / HEADS;
    if (batch < batches) attend_backward_q(batch, head, balanced_block(index % blocks, blocks) * ROWS);
}
