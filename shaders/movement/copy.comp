// y = x over a box of up to six axes, with separate strides of x and y: slices, permutations, parts of a concatenation,
// and with stride 0 a broadcast. With ZERO there is no x, and y = 0.
//
// Each workgroup sweeps per_group consecutive elements of the box. Words are moved as integers, for any 32-bit type.
// With WIDE an element is two words, and all extents and strides count such pairs. Packed 16-bit numbers are moved as
// words, too, and counted in pairs.
#version 460
#include "lib/args.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint AXES = 1;
layout(constant_id = 3) const bool ZERO = false;
layout(constant_id = 4) const bool WIDE = false;
#include "elementwise/strided_index.glsl"

layout(push_constant) uniform Args {
    InInt x;
    OutInt y;
    uint count;
    uint per_group;
    uint y_start;
    uint extent_1; uint extent_2; uint extent_3; uint extent_4; uint extent_5;
    uint x_stride_0; uint x_stride_1; uint x_stride_2;
    uint x_stride_3; uint x_stride_4; uint x_stride_5;
    uint y_stride_0; uint y_stride_1; uint y_stride_2;
    uint y_stride_3; uint y_stride_4; uint y_stride_5;
};

void main() {
    const uint extent[6] = {0, extent_1, extent_2, extent_3, extent_4, extent_5};
    const uint x_stride[6] = {x_stride_0, x_stride_1, x_stride_2,
                              x_stride_3, x_stride_4, x_stride_5};
    const uint y_stride[6] = {y_stride_0, y_stride_1, y_stride_2,
                              y_stride_3, y_stride_4, y_stride_5};

    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, count);
    const uint step[6] = digits(GROUP, extent);
    uint at[6] = digits(first + gl_LocalInvocationID.x, extent);
    for (uint i = first + gl_LocalInvocationID.x; i < end; i += GROUP) {
        const uint to = y_start + offset(at, y_stride), from = offset(at, x_stride);
        if (WIDE)
            OutWide(y).at[to] = ZERO ? 0ul : InWide(x).at[from];
        else
            y.at[to] = ZERO ? 0 : x.at[from];
        advance(at, step, extent);
    }
}
