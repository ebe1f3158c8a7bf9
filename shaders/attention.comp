// o = softmax(scale q kᵀ) v by blocks of query rows, with the running maximum subtracted (FlashAttention-2, algorithm 1).
//
// Shapes: q [B,T,M·D], k v [B,S,N·D], each with its pitch; o [B,T,M·D] and lse [B,M,T] dense. Query head m reads key
// head m / share. Row i stands at position i + keys − T, keys being S or what `length` holds.
// Owns: one subgroup makes ROWS rows of one head of o. Key tiles behind the causal edge are not visited.
// Numerics: fp32; exponents of differences. A row without any key gets o = 0 and lse = +inf, for which exp(s − lse) = 0.
#version 460
#include "lib/args.glsl"
#include "lib/attention.glsl"
#include "lib/random.glsl"

layout(constant_id = 9) const bool LENGTH = false;  // the number of keys is length[0], not `keys`

layout(push_constant, scalar) uniform Args {
    In q; In k; In v; Out o; Out lse;
    InInt length; InInt seed;
    uint batches; uint heads; uint share;
    uint queries; uint keys;
    uint q_pitch; uint k_pitch; uint v_pitch;
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

    uint valid = LENGTH ? min(uint(max(length.at[0], 0)), keys) : keys;
    int shift = int(valid) - int(queries);
    int sight = int(first + ROWS) + shift;
    uint end = CAUSAL ? uint(clamp(sight, 0, int(valid))) : valid;

    float row[HELD];
    float sum[HELD];
    float weight[ROWS];  // this lane's share of each row's sum of exponentials
    float top[STATS];
    uint row_word[STATS];
    load_rows(q, batch * queries * q_pitch + head * D, q_pitch, first, queries, row);
    [[unroll]] for (uint i = 0; i < HELD; ++i) sum[i] = 0.0;
    [[unroll]] for (uint r = 0; r < ROWS; ++r) weight[r] = 0.0;
    [[unroll]] for (uint i = 0; i < STATS; ++i) top[i] = LOWEST;
    if (DROPOUT) {
        [[unroll]] for (uint i = 0; i < STATS; ++i) {
            row_word[i] = query_word(batch * heads + head, first + i * SUBGROUP + lane());
        }
    }

    uint k_base = batch * keys * k_pitch + head / share * D;
    uint v_base = batch * keys * v_pitch + head / share * D;
    [[dont_unroll]] for (uint start = 0; start < end; start += TILE) {
        float p[PAIRS];
        float best[ROWS];
        [[unroll]] for (uint set = 0; set < SETS; ++set) {
            uint key = start + set * SUBGROUP + lane();
            [[unroll]] for (uint r = 0; r < ROWS; ++r) p[set * ROWS + r] = 0.0;
            dot_rows(row, k, k_base + min(key, valid - 1) * k_pitch, set, p);
            [[unroll]] for (uint r = 0; r < ROWS; ++r) {
                float s = p[set * ROWS + r] * scale;
                s = visible(int(key), int(first + r) + shift) && key < valid ? s : MASKED;
                p[set * ROWS + r] = s;
                best[r] = set == 0 ? s : max(best[r], s);
            }
        }

        float highest[STATS];
        float shrink[STATS];
        fold(best, true, highest);
        [[unroll]] for (uint i = 0; i < STATS; ++i) {
            highest[i] = max(highest[i], top[i]);
            shrink[i] = exp_below(top[i] - highest[i]);
            top[i] = highest[i];
        }
        [[unroll]] for (uint r = 0; r < ROWS; ++r) {
            float less = of_row(shrink, r);
            float high = of_row(top, r);
            weight[r] *= less;
            [[unroll]] for (uint c = 0; c < CHUNKS; ++c) sum[r * CHUNKS + c] *= less;
            [[unroll]] for (uint set = 0; set < SETS; ++set) {
                float e = exp_below(p[set * ROWS + r] - high);
                weight[r] += e;
                p[set * ROWS + r] = e;
            }
        }
        if (DROPOUT) {
            [[unroll]] for (uint set = 0; set < SETS; ++set) {
                uint word = key_word(batch * heads + head, start + set * SUBGROUP + lane());
                [[unroll]] for (uint r = 0; r < ROWS; ++r) {
                    uint q_word = subgroupBroadcast(row_word[r / SUBGROUP], r % SUBGROUP);
                    p[set * ROWS + r] *= kept(q_word, word);
                }
            }
        }
        [[unroll]] for (uint set = 0; set < SETS; ++set) {
            [[unroll]] for (uint j = 0; j < SUBGROUP; ++j) {
                uint key = min(start + set * SUBGROUP + j, valid - 1);
                add_row(p, set, j, v, v_base + key * v_pitch, sum);
            }
        }
    }

    float total[STATS];
    float inverse[STATS];
    fold(weight, false, total);
    [[unroll]] for (uint i = 0; i < STATS; ++i) {
        inverse[i] = total[i] > 0.0 ? 1.0 / total[i] : 0.0;
        uint r = i * SUBGROUP + lane();
        if (r < ROWS && first + r < queries) {
            float l = total[i] > 0.0 ? top[i] + log(total[i]) : uintBitsToFloat(0x7F800000);
            lse.at[(batch * heads + head) * queries + first + r] = l;
        }
    }
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
        float n = of_row(inverse, r);
        [[unroll]] for (uint c = 0; c < CHUNKS; ++c) sum[r * CHUNKS + c] *= n;
    }
    store_rows(o, batch * queries * heads * D + head * D, heads * D, first, queries, sum);
}
