#version 460
// norm = √Σ partials and clip = min(1, limit/(norm + 1e-6)), as torch.nn.utils.clip_grad_norm_; clip = 1 if limit is 0.
// If the norm is not finite, clip is -1, and optimisers skip the step.
//
// One workgroup.
#include "lib/args.glsl"
#include "lib/finite.glsl"
#include "lib/group.glsl"

layout(push_constant) uniform Args {
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
        clip.at[0] = !finite(length) ? -1.0 : limit == 0.0 || ratio >= 1.0 ? 1.0 : ratio;
    }
}
