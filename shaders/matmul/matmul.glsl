// Constants, arguments and the epilogue of all kernels of matrix products.
#include "lib/args.glsl"
#include "matmul/matmul_epilogue.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const bool TRANSPOSE_A = false;
layout(constant_id = 3) const bool TRANSPOSE_B = false;
layout(constant_id = 4) const bool BIAS = false;
layout(constant_id = 5) const uint EPILOGUE = 0;
layout(constant_id = 6) const uint ACTIVATION = 0;
// Layouts of pairs along rows: SCALAR unless pitch, batch, offset and width are even. Rows of a may have an odd width
// if the element after the last is unused, and 0 if a is packed.
layout(constant_id = 20) const uint LAYOUT_A = SCALAR;
layout(constant_id = 21) const uint LAYOUT_B = SCALAR;
layout(constant_id = 22) const uint LAYOUT_Y = SCALAR;
layout(constant_id = 23) const uint LAYOUT_AUX = SCALAR;
layout(constant_id = 25) const bool ROW_SCALE = false;

// With ROW_SCALE the rows of a, as stored, have factors. The factors multiply rows of y or, if a is transposed, terms
// of its sums.
const bool SCALE_Y = ROW_SCALE && !TRANSPOSE_A;
const bool SCALE_K = ROW_SCALE && TRANSPOSE_A;

#ifndef DIGITS
#define DIGITS  // additional argument of kernels for CPUs: lib/uniform_loads.glsl
#endif
layout(push_constant) uniform Args {
    In a;
    In b;
    In bias;
    In aux;
    In row_scale;
    Out y;
    uint m;
    uint n;
    uint k;
    uint batches;
    uint splits;
    uint chunk;  // of k, per split
    uint a_pitch;
    uint b_pitch;
    uint y_pitch;
    uint aux_pitch;
    uint a_batch;
    uint b_batch;
    uint y_batch;
    uint aux_batch;
    uint rows_per_scale;  // neighbours that share a factor
    float alpha;
    DIGITS
};

// Begin and end of a split's chunk of k; part = batch · splits + split.
uint part_k_begin(uint part) {
    return part % splits * chunk;
}
uint part_k_end(uint part) {
    return min(k, (part % splits + 1) * chunk);
}

// Factor of a row of y, and of a term of its sums.
float y_scale(uint batch, uint row) {
    return SCALE_Y ? row_scale.at[(batch * m + row) / rows_per_scale] : 1.0;
}
float k_scale(uint batch, uint term) {
    return SCALE_K ? row_scale.at[(batch * k + term) / rows_per_scale] : 1.0;
}

// Loads one element of aux, or two neighbours; without `two` the second is 0. Without an epilogue all are 0.
float load_aux(uint from) {
    float more = 0.0;
    if (EPILOGUE != 0) more = load_one(aux, from, LAYOUT_AUX);
    return more;
}
vec2 load_aux(uint from, bool two) {
    vec2 more = vec2(0.0);
    if (EPILOGUE != 0) more = load_some(aux, from, LAYOUT_AUX != SCALAR || two, LAYOUT_AUX);
    return more;
}

// Element of y from its sum, the bias of its column, the factor of its row, and its element of aux.
float finish(float sum, float shift, float factor, float aux_element) {
    precise float v = alpha * sum;
    if (BIAS) v += shift;
    return finish(EPILOGUE, ACTIVATION, v, factor, aux_element);
}
