#version 460
// y = f(x), elementwise over [count], where f is a function of the device itself: 0 exp2, 1 log2, 2 sqrt,
// 3 inversesqrt, 4 division of 1 by x. For `vkformer check`, which compares them with the precision that Vulkan
// demands; other kernels compute their own exponentials (lib/exponential.glsl).
#include "lib/args.glsl"

layout(constant_id = 2) const uint FUNCTION = 0;

layout(push_constant) uniform Args {
    In x;
    Out y;
    uint count;
    uint per_group;
};

float value_of(float x) {
    switch (FUNCTION) {
        case 0: return exp2(x);
        case 1: return log2(x);
        case 2: return sqrt(x);
        case 3: return inversesqrt(x);
        default: return 1.0 / x;
    }
}

void main() {
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, count);
    for (uint i = first + gl_LocalInvocationID.x; i < end; i += GROUP) y.at[i] = value_of(x.at[i]);
}
