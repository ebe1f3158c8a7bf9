#version 460
// What the device's arithmetic can do at most: every invocation goes on with chains of multiply-adds that do not wait
// for each other, in registers and nowhere else. The chains run towards shift / (1 − factor), away from subnormals.
#include "lib/args.glsl"

layout(constant_id = 2) const uint CHAINS = 16;
layout(constant_id = 3) const uint LINKS = 8;  // of every chain in one turn of the loop

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
    // All of them are part of a result, so none can be left out.
    float sum = 0.0;
    [[unroll]] for (uint c = 0; c < CHAINS; ++c) sum += x[c];
    y.at[group_index() * GROUP + gl_LocalInvocationID.x] = sum;
}
