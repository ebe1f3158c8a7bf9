#version 460
// Peak arithmetic rate of the device: every invocation computes independent chains of multiply-adds in registers. The
// chains converge to shift / (1 − factor), away from subnormals.
#include "lib/args.glsl"

layout(constant_id = 2) const uint CHAINS = 16;
layout(constant_id = 3) const uint LINKS = 8;  // multiply-adds per chain and turn of the loop

layout(push_constant) uniform Args {
    Out y;
    uint turns;
    float factor;
    float shift;
};

void main() {
    float x[CHAINS];
    [[unroll]] for (uint c = 0; c < CHAINS; ++c) x[c] = float(gl_LocalInvocationID.x + c);
    [[dont_unroll]] for (uint turn = 0; turn < turns; ++turn)
        [[unroll]] for (uint link = 0; link < LINKS; ++link)
            [[unroll]] for (uint c = 0; c < CHAINS; ++c) x[c] = fma(x[c], factor, shift);
    // The result depends on all chains, so compilers cannot remove any.
    float sum = 0.0;
    [[unroll]] for (uint c = 0; c < CHAINS; ++c) sum += x[c];
    y.at[group_index() * GROUP + gl_LocalInvocationID.x] = sum;
}
