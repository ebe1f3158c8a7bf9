// Sums over a workgroup for kernels that sum one row after another: two sums by one reduction, with one barrier. Each
// equals group_sum (lib/group.glsl) to the last bit. group_sum keeps the subgroups' partial sums in one buffer and
// needs a second barrier before it overwrites them. Here two buffers alternate, so the barrier of one sum also
// separates the reads and writes of the other buffer.
//
// The loop over the partial sums has a constant end, so that their loads do not wait for each other; `precise` keeps
// the order of additions, which compilers may change in unrolled loops.
#include "lib/group.glsl"

const uint SUBGROUPS = GROUP / SUBGROUP;

shared vec2 turn_parts[2 * SUBGROUPS];

// Returns the sums of x.x and, if `both` (a constant), of x.y. `turn` alternates between 0 and 1 from call to call.
vec2 group_sums(uint turn, vec2 x, bool both) {
    if (GROUP == SUBGROUP) return vec2(group_sum(x.x), both ? group_sum(x.y) : 0.0);
    const vec2 part = vec2(subgroupAdd(x.x), both ? subgroupAdd(x.y) : 0.0);
    if (subgroupElect()) turn_parts[turn * SUBGROUPS + gl_SubgroupID] = part;
    barrier();
    precise vec2 total = vec2(0.0);
    [[unroll]] for (uint i = 0; i < SUBGROUPS; ++i) total += turn_parts[turn * SUBGROUPS + i];
    return total;
}
