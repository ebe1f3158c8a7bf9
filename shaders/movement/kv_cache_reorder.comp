#version 460
// state[g, b, s] = state[g, parents[g, b], s] for s < lengths[g], in place: reorders the BEAMS sequences of each group
// g of a state [G, BEAMS, S, words]. Words have 32 bits, or 64 bits if WIDE, and are one or more numbers of any format.
//
// A workgroup has `per_share` of a group's positions s, which are divided into `shares`; its lanes divide a row's
// words. A lane reads one word of each sequence at a position before it writes them. No other lane reads or writes
// these words, so the order of lanes does not matter. Parents are clamped to 0 … BEAMS − 1. A group whose parents are
// 0, 1, … stays as it is.
#include "lib/args.glsl"

#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(constant_id = 2) const uint BEAMS = 1;
layout(constant_id = 3) const bool WIDE = false;

// Reads and writes go through one reference. If there were two, the compiler might move a read behind a write.
REFERENCE buffer Words { uint at[]; };
layout(buffer_reference, buffer_reference_align = 8) restrict buffer WideWords { uint64_t at[]; };

layout(push_constant) uniform Args {
    Words state;
    InInt parents;
    InInt lengths;
    uint groups;
    uint capacity;  // S
    uint words;
    uint shares;
    uint per_share;
};

void main() {
    const uint group = group_index() / shares;
    if (group >= groups) return;
    uint from[BEAMS];  // words between the group's start and the parents' rows
    bool moves = false;
    [[unroll]] for (uint b = 0; b < BEAMS; ++b) {
        const uint parent = uint(clamp(parents.at[group * BEAMS + b], 0, int(BEAMS) - 1));
        moves = moves || parent != b;
        from[b] = parent * capacity * words;
    }
    if (!moves) return;
    const uint first = group_index() % shares * per_share;
    const uint end = min(first + per_share, uint(clamp(lengths.at[group], 0, int(capacity))));
    for (uint row = first; row < end; ++row)
        for (uint i = gl_LocalInvocationID.x; i < words; i += GROUP) {
            const uint at = (group * BEAMS * capacity + row) * words + i;
            if (WIDE) {
                uint64_t word[BEAMS];
                [[unroll]] for (uint b = 0; b < BEAMS; ++b) word[b] = WideWords(state).at[at + from[b]];
                [[unroll]] for (uint b = 0; b < BEAMS; ++b) WideWords(state).at[at + b * capacity * words] = word[b];
            } else {
                uint word[BEAMS];
                [[unroll]] for (uint b = 0; b < BEAMS; ++b) word[b] = state.at[at + from[b]];
                [[unroll]] for (uint b = 0; b < BEAMS; ++b) state.at[at + b * capacity * words] = word[b];
            }
        }
}
