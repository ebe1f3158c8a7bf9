// y = activation(alpha · Σ partial products + bias) + addend: the end of a matrix product whose k axis was split.
//
// Shapes: parts [batches, splits, m, n], bias [n], y and addend [batches, m, n] with *_pitch
//   elements between rows and *_batch between matrices. addend may be y itself.
// Owner: a workgroup has one row. Numerics: the parts are summed in ascending order.
#version 460
#include "lib/args.glsl"
#include "lib/activation.glsl"

layout(constant_id = 2) const bool BIAS = false;
layout(constant_id = 3) const bool ADDEND = false;
layout(constant_id = 4) const uint ACTIVATION = 0;

layout(push_constant, scalar) uniform Args {
    In parts;
    In bias;
    In addend;
    Out y;
    uint m;
    uint n;
    uint batches;
    uint splits;
    uint y_pitch;
    uint addend_pitch;
    uint y_batch;
    uint addend_batch;
    float alpha;
};

void main() {
    const uint batch = group_index() / m;
    const uint row = group_index() % m;
    if (batch >= batches) return;
    const uint from = (batch * splits * m + row) * n;
    const uint addend_from = batch * addend_batch + row * addend_pitch;
    const uint to = batch * y_batch + row * y_pitch;
    for (uint c = gl_LocalInvocationID.x; c < n; c += GROUP) {
        float sum = parts.at[from + c];
        for (uint s = 1; s < splits; ++s) sum += parts.at[from + s * m * n + c];
        float v = alpha * sum;
        if (BIAS) v += bias.at[c];
        v = activation(ACTIVATION, v);
        if (ADDEND) v += addend.at[addend_from + c];
        y.at[to + c] = v;
    }
}
