// What becomes of a row of a head of o before it is stored: its discrepancy with, or its projection on, the value at
// the query's own position. Kernels that have none store o in fp32 for discrepancy.comp and project_out.comp.
//
// Expects own_v, coefficients, own_pitch, by_o and by_v among the Args.
#include "lib/projection.glsl"

layout(constant_id = 22) const uint EPILOGUE = 0;
layout(constant_id = 23) const uint LAYOUT_OWN = SCALAR;  // of own_v

const uint DISCREPANCY = 1;  // by_v·v + by_o·o
const uint PROJECT_OUT = 2;  // o − a·v, a = <o,v>/<v,v> to `coefficients`, [B,T,M]

#define EPILOGUE_ARGS In own_v; Out coefficients; uint own_pitch; float by_o; float by_v;

// What o and v are multiplied by, of a row with these products.
vec2 epilogue_weights(float o_v, float v_v, float by_o, float by_v) {
    if (EPILOGUE == DISCREPANCY) return vec2(by_o, by_v);
    return gone(v_v, D_V) ? vec2(0.0) : vec2(1.0, -along(o_v, v_v));
}
