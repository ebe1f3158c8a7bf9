// y = row_scale · activation(v) + aux, or row_scale · v · activation'(aux), for v = alpha · Σ partial products + bias:
// the second pass of a matrix product whose k axis is split.
//
// Shapes: parts [batches, splits, m, n], bias [n], y and aux [batches, m, n] with *_pitch
//   elements between rows and *_batch between matrices, row_scale [batches · m / rows_per_scale]. aux may be y
//   itself.
// Owner: a workgroup has one row. Numerics: partial products are added in ascending order.
#version 460
#include "lib/args.glsl"
#include "matmul/matmul_epilogue.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const bool BIAS = false;
layout(constant_id = 3) const uint EPILOGUE = 0;
layout(constant_id = 4) const uint ACTIVATION = 0;
layout(constant_id = 5) const bool ROW_SCALE = false;
layout(constant_id = 14) const uint LAYOUT_Y = SCALAR;
layout(constant_id = 15) const uint LAYOUT_AUX = SCALAR;

const uint PARTS = LAYOUT_Y == SCALAR ? SCALAR : VEC2;  // both are aligned if n is even

layout(push_constant) uniform Args {
    In parts;
    In bias;
    In aux;
    In row_scale;
    Out y;
    uint m;
    uint n;
    uint batches;
    uint splits;
    uint y_pitch;
    uint aux_pitch;
    uint y_batch;
    uint aux_batch;
    uint rows_per_scale;
    float alpha;
};

void main() {
    const uint batch = group_index() / m;
    const uint row = group_index() % m;
    if (batch >= batches) return;
    const uint from = (batch * splits * m + row) * n;
    const uint aux_from = batch * aux_batch + row * aux_pitch;
    const uint to = batch * y_batch + row * y_pitch;
    const float factor = ROW_SCALE ? row_scale.at[group_index() / rows_per_scale] : 1.0;
    for (uint c = 2 * gl_LocalInvocationID.x; c < n; c += 2 * GROUP) {
        const bool two = c + 1 < n;
        vec2 sum = load_some(parts, from + c, two, PARTS);
        for (uint s = 1; s < splits; ++s) sum += load_some(parts, from + s * m * n + c, two, PARTS);
        vec2 v = alpha * sum;
        if (BIAS) v += load_some(bias, c, two, SCALAR);
        vec2 more = vec2(0.0);
        if (EPILOGUE != 0) more = load_some(aux, aux_from + c, two, LAYOUT_AUX);
        v = vec2(finish(EPILOGUE, ACTIVATION, v.x, factor, more.x), finish(EPILOGUE, ACTIVATION, v.y, factor, more.y));
        store_some(y, to + c, v, two, LAYOUT_Y);
    }
}
