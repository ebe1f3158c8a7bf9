#version 460
// y = s · Q(w / s), elementwise over [count]. s is the mean magnitude of w: Σ partials / count. Q rounds to the nearest
// number with two binary digits after the point (runtime/ops/elementwise/fake_quantize.h).
//
// A workgroup adds up all partials and then sweeps `per_group` consecutive elements, a pair per invocation.
// Numerics: fp32; Q itself is exact. Where w / s is within rounding of the middle between two numbers, the result may
// be either. A NaN in w makes all of y NaN.
#include "lib/args.glsl"
#include "lib/group.glsl"
#include "lib/vector_layout.glsl"

layout(constant_id = 2) const uint LAYOUT_W = SCALAR;
layout(constant_id = 3) const uint LAYOUT_Y = SCALAR;

layout(push_constant) uniform Args {
    In w;
    In partials;
    Out y;
    uint partial_count;
    uint count;
    uint per_group;
};

vec2 power_of_two(ivec2 exponent) { return uintBitsToFloat(uvec2(exponent + 127) << 23); }

vec2 round_e5m2(vec2 x) {
    const vec2 size = min(abs(x), vec2(114688.0));
    const ivec2 exponent = max(ivec2(floatBitsToUint(size) >> 23) - 127, ivec2(-14)) - 2;
    return sign(x) * (roundEven(size * power_of_two(-exponent)) * power_of_two(exponent));
}

void main() {
    float sum = 0.0;
    for (uint i = gl_LocalInvocationID.x; i < partial_count; i += GROUP) sum += partials.at[i];
    const float mean = group_sum(sum) / float(count);
    const uint first = group_index() * per_group;
    const uint end = min(first + per_group, count);
    for (uint i = first + 2 * gl_LocalInvocationID.x; i < end; i += 2 * GROUP) {
        const bool two = i + 1 < end;
        const vec2 x = load_some(w, i, two, LAYOUT_W);
        const vec2 rounded = mean < 1.17549435e-38 ? vec2(0.0) : mean * round_e5m2(x / mean);
        store_some(y, i, rounded, two, LAYOUT_Y);
    }
}
