#version 460
// A workgroup of a given number of invocations with a given number of words in shared memory, for `vkformer check`.
// Every word is written, and read by another invocation. Row g of y [groups, GROUP] has a 1 for each invocation of
// workgroup g that read what was written, else 0.
#include "lib/args.glsl"

layout(constant_id = 2) const uint WORDS = 64;

layout(push_constant) uniform Args {
    Out y;
    uint groups;
};

shared uint words[WORDS];

// Differs between workgroups, which may run at the same time.
uint word_of(uint group, uint i) {
    return (group * WORDS + i) * 2654435761u;
}

void main() {
    const uint group = group_index();
    const uint self = gl_LocalInvocationID.x;
    for (uint i = self; i < WORDS; i += GROUP) words[i] = word_of(group, i);
    barrier();
    uint wrong = 0;
    for (uint i = self; i < WORDS; i += GROUP) {
        const uint other = WORDS - 1 - i;
        if (words[other] != word_of(group, other)) ++wrong;
    }
    if (group < groups) y.at[group * GROUP + self] = wrong == 0 ? 1.0 : 0.0;
}
