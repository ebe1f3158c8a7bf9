// What the kernels of matrix products have in common: constants, arguments and the end of each element's computation.
#include "lib/args.glsl"
#include "lib/activation.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const bool TRANSPOSE_A = false;
layout(constant_id = 3) const bool TRANSPOSE_B = false;
layout(constant_id = 4) const bool BIAS = false;
layout(constant_id = 5) const bool ADDEND = false;
layout(constant_id = 6) const uint ACTIVATION = 0;
// How pairs along rows lie: SCALAR unless pitch, batch, offset and width are even.
layout(constant_id = 20) const uint LAYOUT_A = SCALAR;
layout(constant_id = 21) const uint LAYOUT_B = SCALAR;
layout(constant_id = 22) const uint LAYOUT_Y = SCALAR;
layout(constant_id = 23) const uint LAYOUT_ADDEND = SCALAR;  // never packed

layout(push_constant, scalar) uniform Args {
    In a;
    In b;
    In bias;
    In addend;
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
    uint addend_pitch;
    uint a_batch;
    uint b_batch;
    uint y_batch;
    uint addend_batch;
    float alpha;
};

// Where a split's chunk of k begins and ends, by part = batch · splits + split.
uint part_k_begin(uint part) {
    return part % splits * chunk;
}
uint part_k_end(uint part) {
    return min(k, (part % splits + 1) * chunk);
}

// activation(alpha · sum + bias of the column) + addend at its index `from`
float finish(float sum, float shift, uint from) {
    float v = alpha * sum;
    if (BIAS) v += shift;
    v = activation(ACTIVATION, v);
    if (ADDEND) v += addend.at[from];
    return v;
}
