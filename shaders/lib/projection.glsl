// What projections and their gradients share: how a workgroup takes groups of rows, when <v,v> counts as 0, and what
// the sums over a group make of each of its elements.
#include "lib/group.glsl"
#include "lib/row_registers.glsl"

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

// How a group's o and g lie along its v.
struct Along {
    float a;    // <o,v>/<v,v>
    float c;    // -<g,v>/<v,v>
    bool gone;  // of one element: nothing is perpendicular to v
};

Along along(float o_v, float g_v, float v_v, uint width) {
    const bool directed = v_v >= SMALLEST_NORMAL;
    return Along(directed ? o_v / v_v : 0.0, directed ? -g_v / v_v : 0.0, width == 1 && directed);
}

vec2 perpendicular(Along at, vec2 o, vec2 v) { return at.gone ? vec2(0.0) : o - at.a * v; }

// The gradients of o and, given that, of v. Where o = v, as in a causal first row, they cancel to the last bit.
vec2 gradient_of_o(Along at, vec2 g, vec2 v) { return at.gone ? vec2(0.0) : g + at.c * v; }
vec2 gradient_of_v(Along at, vec2 o, vec2 v, vec2 d_o) {
    return at.gone ? vec2(0.0) : at.c * (o - at.a * v) - at.a * d_o;
}
