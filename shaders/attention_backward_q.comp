// dq of attention, and delta_i = <g_i, o_i>, which the kernel for dk and dv also needs; FlashAttention-2, algorithm 2:
//     p = exp(s − lse),   ds = p (<g, v> − delta),   dq = scale ds k.
//
// Shapes: as attention.comp, with g = dL/do and o dense, delta [B,M,T]; dq has its own pitch.
// Owns: one subgroup makes ROWS rows of one head of dq. Probabilities are made again, nothing T×S is stored.
// Numerics: a row with lse = +inf (no key) has p = 0, delta = 0 and dq = 0 exactly.
#version 460
#include "lib/args.glsl"
#include "lib/attention.glsl"
#include "lib/random.glsl"

layout(push_constant, scalar) uniform Args {
    In q; In k; In v; In o; In lse; In g;
    Out delta; Out dq;
    InInt seed;
    uint batches; uint heads; uint share;
    uint queries; uint keys;
    uint q_pitch; uint k_pitch; uint v_pitch; uint dq_pitch;
    float scale; float drop; uint salt;
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
    float row_lse[STATS];
    float row_delta[STATS];
    uint row_word[STATS];
    uint o_base = batch * queries * heads * D + head * D;
    load_rows(o, o_base, heads * D, first, queries, row);
    load_rows(g, o_base, heads * D, first, queries, up);
    float product[ROWS];
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        product[r] = 0.0;
        [[unroll]] for (uint c = 0; c < CHUNKS; ++c) {
            float x = row[r * CHUNKS + c] * up[r * CHUNKS + c];
            product[r] += c / VEC * COLUMNS + lane() * VEC + c % VEC < D ? x : 0.0;
        }
    }
    fold(product, false, row_delta);
    [[unroll]] for (uint i = 0; i < STATS; ++i) {
        uint r = first + i * SUBGROUP + lane();
        row_lse[i] = lse.at[plane * queries + min(r, queries - 1)];
        if (i * SUBGROUP + lane() < ROWS && r < queries) delta.at[plane * queries + r] = row_delta[i];
        if (DROPOUT) row_word[i] = query_word(plane, r);
    }
    load_rows(q, batch * queries * q_pitch + head * D, q_pitch, first, queries, row);
    [[unroll]] for (uint i = 0; i < HELD; ++i) sum[i] = 0.0;

    uint k_base = batch * keys * k_pitch + head / share * D;
    uint v_base = batch * keys * v_pitch + head / share * D;
    [[dont_unroll]] for (uint start = 0; start < end; start += TILE) {
        float p[PAIRS];
        float ds[PAIRS];
        [[unroll]] for (uint i = 0; i < PAIRS; ++i) {
            p[i] = 0.0;
            ds[i] = 0.0;
        }
        [[unroll]] for (uint set = 0; set < SETS; ++set) {
            uint key = start + set * SUBGROUP + lane();
            uint word = DROPOUT ? key_word(plane, key) : 0;
            dot_rows(row, k, k_base + min(key, keys - 1) * k_pitch, set, p);
            dot_rows(up, v, v_base + min(key, keys - 1) * v_pitch, set, ds);
            [[unroll]] for (uint r = 0; r < ROWS; ++r) {
                uint at = set * ROWS + r;
                float e = exp_below(p[at] * scale - of_row(row_lse, r));
                e = visible(int(key), int(first + r) + shift) && key < keys ? e : 0.0;
                float dp = ds[at];
                if (DROPOUT) dp *= kept(subgroupBroadcast(row_word[r / SUBGROUP], r % SUBGROUP), word);
                ds[at] = e * (dp - of_row(row_delta, r));
            }
            [[unroll]] for (uint j = 0; j < SUBGROUP; ++j) {
                uint key = min(start + set * SUBGROUP + j, keys - 1);
                add_row(ds, set, j, k, k_base + key * k_pitch, sum);
            }
        }
    }
    [[unroll]] for (uint i = 0; i < HELD; ++i) sum[i] *= scale;
    store_rows(dq, batch * queries * dq_pitch + head * D, dq_pitch, first, queries, sum);
}
