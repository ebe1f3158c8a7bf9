// y = a OP b elementwise; an operand that is broadcast is read at (i / div) % mod.
//
// Each workgroup sweeps per_group consecutive elements by pairs of neighbours. Both of a pair take one element of a
// broadcast operand where div is even (SHARED), and a pair of it where div is 1 and mod even (PAIRED); else elements go
// one by one.
#version 460
#include "lib/args.glsl"
#include "lib/sweep_pairs.glsl"

layout(constant_id = 2) const uint OP = 0;         // add, sub, mul, div
layout(constant_id = 3) const uint STRETCHED = 0;  // the operand that is broadcast: none, a, b
layout(constant_id = 4) const uint READING = 0;    // of a broadcast operand: one by one, SHARED, PAIRED
layout(constant_id = 5) const uint PAIR_A = APART;  // where a is broadcast: of what PAIRED reads, and packed or not
layout(constant_id = 6) const uint PAIR_B = APART;
layout(constant_id = 7) const uint PAIR_Y = APART;

const uint SHARED = 1, PAIRED = 2;
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

vec2 combine(vec2 left, vec2 right) {
    return OP == 0 ? left + right : OP == 1 ? left - right : OP == 2 ? left * right : left / right;
}

// Elements `at` and the next of an operand, of which `narrow` is the element where it is broadcast.
vec2 operand(In x, bool stretched, uint at, uint narrow, bool two, uint form) {
    if (!stretched) return load_some(x, at, two, form);
    return READING == PAIRED ? load_some(x, narrow, two, form) : vec2(load_one(x, narrow, form));
}

void step(uint i, uint narrow, bool two) {
    const vec2 left = operand(a, STRETCHED == 1, i, narrow, two, PAIR_A);
    const vec2 right = operand(b, STRETCHED == 2, i, narrow, two, PAIR_B);
    store_some(y, i, combine(left, right), two, PAIR_Y);
}

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, count);
    if (STRETCHED == 0) {
        FOR_PAIRS_IN(first, end, i) step(i, 0, true);
        if (odd_end(first, end)) step(end - 1, 0, false);
        return;
    }
    const uint each = READING == 0 ? 1 : 2;
    const uint extent[6] = {0, mod, div, 0, 0, 0};
    const uint by[6] = digits(each * GROUP, extent);
    uint at[6] = digits(first + each * gl_LocalInvocationID.x, extent);
    for (uint i = first + each * gl_LocalInvocationID.x; i < end; i += each * GROUP) {
        step(i, at[1], READING != 0);  // then the count is even
        advance(at, by, extent);
    }
}
