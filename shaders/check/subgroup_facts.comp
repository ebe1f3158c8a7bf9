#version 460
// Subgroups as a kernel finds them, for `vkformer check`. Row g of y [groups, 4] has the findings of workgroup g, each
// 1 if it holds for all of the workgroup's invocations, else 0: the subgroup has the size that the kernel was compiled
// for; so many invocations take part in a sum; so many vote; a shuffle brings the next invocation's index.
#include "lib/args.glsl"

layout(push_constant) uniform Args {
    Out y;
    uint groups;
};

shared uint missed[4];

void main() {
    if (gl_LocalInvocationID.x < 4) missed[gl_LocalInvocationID.x] = 0;
    barrier();
    const uint next = (gl_SubgroupInvocationID + 1) % SUBGROUP;
    if (gl_SubgroupSize != SUBGROUP) atomicAdd(missed[0], 1);
    if (subgroupAdd(1u) != SUBGROUP) atomicAdd(missed[1], 1);
    if (subgroupBallotBitCount(subgroupBallot(true)) != SUBGROUP) atomicAdd(missed[2], 1);
    if (subgroupShuffle(gl_SubgroupInvocationID, next) != next) atomicAdd(missed[3], 1);
    barrier();
    const uint group = group_index();
    if (group < groups && gl_LocalInvocationID.x < 4)
        y.at[4 * group + gl_LocalInvocationID.x] = missed[gl_LocalInvocationID.x] == 0 ? 1.0 : 0.0;
}
