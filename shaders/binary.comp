// y = a OP b elementwise; an operand that is broadcast is read at (i / div) % mod.
//
// Each workgroup sweeps per_group consecutive elements, its lanes side by side.
#version 460
#include "lib/args.glsl"

layout(constant_id = 2) const uint OP = 0;         // add, sub, mul, div
layout(constant_id = 3) const uint STRETCHED = 0;  // the operand that is broadcast: none, a, b

const uint AXES = 3;  // of a broadcast: repetitions, the operand's elements, repetitions of each
#include "lib/walk.glsl"

layout(push_constant, scalar) uniform Args {
    In a;
    In b;
    Out y;
    uint count;
    uint per_group;
    uint div;
    uint mod;
};

float combine(float left, float right) {
    return OP == 0 ? left + right : OP == 1 ? left - right : OP == 2 ? left * right : left / right;
}

void main() {
    const uint first = group_index() * per_group + gl_LocalInvocationID.x;
    const uint end = min((group_index() + 1) * per_group, count);
    if (STRETCHED == 0) {
        for (uint i = first; i < end; i += GROUP) y.at[i] = combine(a.at[i], b.at[i]);
        return;
    }
    const uint extent[6] = {0, mod, div, 0, 0, 0};
    const uint step[6] = digits(GROUP, extent);
    uint at[6] = digits(first, extent);
    for (uint i = first; i < end; i += GROUP) {
        y.at[i] = combine(a.at[STRETCHED == 1 ? at[1] : i], b.at[STRETCHED == 2 ? at[1] : i]);
        advance(at, step, extent);
    }
}
