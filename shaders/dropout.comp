// y = x with each element dropped with probability `rate` and the rest scaled by 1 / (1 − rate).
//
// A lane owns four consecutive elements, which share one block of random bits: the mask is a
// function of (seed, salt, element) alone. Each workgroup sweeps per_group fours.
#version 460
#include "lib/args.glsl"
#include "lib/pairs.glsl"
#include "lib/random.glsl"

layout(constant_id = 2) const uint PAIR = APART;

layout(push_constant, scalar) uniform Args {
    In x;
    InInt seed;
    Out y;
    uint count;
    uint per_group;
    uint salt;
    float rate;
};

void main() {
    const uvec2 key = uvec2(seed.at[0], seed.at[1]);
    const uint fours = (count + 3) / 4;
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, fours);
    for (uint i = first + gl_LocalInvocationID.x; i < end; i += GROUP) {
        const vec4 factor = dropout_scale4(key, salt, 0, i, rate);
        [[unroll]] for (uint k = 0; k < 4; k += 2) {
            const uint at = 4 * i + k;
            const bool two = at + 1 < count;
            if (at < count) store_some(y, at, load_some(x, at, two, PAIR) * vec2(factor[k], factor[k + 1]), two, PAIR);
        }
    }
}
