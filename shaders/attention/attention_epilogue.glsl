// Epilogue of a row of a head of o before it is stored: discrepancy with the value at the query's own position, or
// component perpendicular to it. Kernels without epilogues store o in fp32 for discrepancy.comp and project_out.comp.
//
// Expects query_values, coefficients, own_pitch, by_o and by_v among the Args.
#include "attention/projection.glsl"

layout(constant_id = 22) const uint EPILOGUE = 0;
layout(constant_id = 23) const uint LAYOUT_OWN = SCALAR;  // layout of query_values

const uint DISCREPANCY = 1;  // by_v·v + by_o·o
const uint PROJECT_OUT = 2;  // o − a·v, a = <o,v>/<v,v> to `coefficients`, [B,T,M]

#define EPILOGUE_ARGS In query_values; Out coefficients; uint own_pitch; float by_o; float by_v;

// Factors of o and v in the result, from the row's <o,v> and <v,v>.
vec2 epilogue_weights(float o_v, float v_v, float by_o, float by_v) {
    if (EPILOGUE == DISCREPANCY) return vec2(by_o, by_v);
    return residual_is_zero(v_v, D_V) ? vec2(0.0) : vec2(1.0, -projection_coefficient(o_v, v_v));
}
