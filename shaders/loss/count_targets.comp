// count = number of targets that are not negative.
//
// One workgroup. Numerics: a whole number, exact up to 2^24.
#version 460
#include "lib/args.glsl"
#include "lib/group.glsl"

layout(push_constant) uniform Args {
    InInt targets;
    Out count;
    uint rows;
};

void main() {
    if (group_index() > 0) return;
    float counted = 0.0;
    for (uint row = gl_LocalInvocationID.x; row < rows; row += GROUP) counted += targets.at[row] >= 0 ? 1.0 : 0.0;
    counted = group_sum(counted);
    if (gl_LocalInvocationID.x == 0) count.at[0] = counted;
}
