// Sums over a workgroup for kernels that add up row after row: two at once, each equal to group_sum's to the last bit
// (lib/group.glsl). That has one place for the subgroups' parts, and passes a barrier before it writes there again. Two
// places take turns here: the barrier between writing and reading one also divides readers and writers of the other.
//
// The loop over the parts has a constant end, so that their loads need not wait for each other; `precise` keeps the
// order of additions, which compilers may change in what they have unrolled.
#include "lib/group.glsl"

const uint SUBGROUPS = GROUP / SUBGROUP;

shared vec2 turn_parts[2 * SUBGROUPS];

// Each of x's; without `both`, a constant, of the first alone. `turn` alternates between 0 and 1.
vec2 group_sums(uint turn, vec2 x, bool both) {
    if (GROUP == SUBGROUP) return vec2(group_sum(x.x), both ? group_sum(x.y) : 0.0);
    const vec2 part = vec2(subgroupAdd(x.x), both ? subgroupAdd(x.y) : 0.0);
    if (subgroupElect()) turn_parts[turn * SUBGROUPS + gl_SubgroupID] = part;
    barrier();
    precise vec2 total = vec2(0.0);
    [[unroll]] for (uint i = 0; i < SUBGROUPS; ++i) total += turn_parts[turn * SUBGROUPS + i];
    return total;
}
