#version 460
// norm = √Σ partials and clip = min(1, limit/(norm + 1e-6)), as torch.nn.utils.clip_grad_norm_; clip = 1 if limit is 0.
//
// One workgroup. Numerics: a norm that is not a number makes clip not a number, so that it shows.
#include "lib/args.glsl"
#include "lib/group.glsl"

layout(push_constant, scalar) uniform Args {
    In partials;
    Out norm;
    Out clip;
    uint count;
    float limit;
};

void main() {
    if (group_index() != 0) return;
    float sum = 0.0;
    for (uint i = gl_LocalInvocationID.x; i < count; i += GROUP) sum += partials.at[i];
    const float length = sqrt(group_sum(sum));
    if (gl_LocalInvocationID.x == 0) {
        const float ratio = limit / (length + 1e-6);
        norm.at[0] = length;
        clip.at[0] = limit == 0.0 || ratio >= 1.0 ? 1.0 : ratio;
    }
}
