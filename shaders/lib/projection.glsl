// What project_out and its gradient share: how a workgroup takes groups of rows, and when <v,v> counts as 0.
#include "lib/group.glsl"
#include "lib/strip_pairs.glsl"

layout(constant_id = 5) const uint GROUPS = 1;

const float SMALLEST_NORMAL = 1.17549435e-38;

// Groups at a time, and this lane's among them.
const uint AT_ONCE = ROW_PER_LANE ? GROUP : 1;
uint own_group() { return ROW_PER_LANE ? gl_LocalInvocationID.x : 0; }

// Of the lanes that share a group.
float sum_over_lanes(float x) {
    if (ROW_PER_LANE) return x;
    return group_sum(x);
}
