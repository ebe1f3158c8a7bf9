// Stands in for shaders/matmul/matmul_tile.comp in the program vkformer_spoilt, to see that what compilers must not
// make of a kernel is noticed (tests/commands/spoilt_test): of layout NN it spills, of NT it has an array in scratch
// memory, of TN it rounds to fp16 toward zero. It computes nothing.
#version 460
#include "matmul/matmul.glsl"

layout(constant_id = 7) const uint TILE = 64;
layout(constant_id = 8) const uint THREAD = 4;
layout(constant_id = 9) const uint SLICE = 16;
layout(constant_id = 10) const bool ALIGNED_A = false;
layout(constant_id = 11) const bool ALIGNED_B = false;

const uint COUNT = 600;  // more numbers than any GPU's invocation has registers

// All are live at once: each result needs the sum of all.
void spill(uint at) {
    float x[COUNT];
    float sum = 0.0;
    [[unroll]] for (uint i = 0; i < COUNT; ++i) {
        x[i] = a.at[at + i * 64];
        sum += x[i] * x[i];
    }
    [[unroll]] for (uint i = 0; i < COUNT; ++i) y.at[at + i * 64] = x[i] * sum;
}

void index(uint at) {
    float x[COUNT];
    for (uint i = 0; i < COUNT; ++i) x[i] = a.at[at + i * 64];
    for (uint i = 0; i < COUNT; ++i) y.at[at + i * 64] = x[floatBitsToUint(b.at[at + i]) % COUNT];
}

void truncate(uint at) { y.at[at] = uintBitsToFloat(packHalf2x16(vec2(a.at[at], b.at[at]))); }

void main() {
    const uint at = gl_GlobalInvocationID.x;
    if (TRANSPOSE_A) truncate(at);
    else if (TRANSPOSE_B) index(at);
    else spill(at);
}
