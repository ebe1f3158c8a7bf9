#version 460
// Norm, clip factor and next scale from the norm `scaled` of gradients that are S times too large, S = state[0]
// (dynamic loss scaling: Micikevicius et al., ICLR 2018, by the rules of PyTorch's GradScaler).
//
//     norm = scaled / S and clip = min(1, limit/(norm + 1e-6)) / S; min(1, …) is 1 if limit is 0
//     state ← S, state[1] + 1, or 2·S, 0 after `interval` good steps in a row; S is at most 2^100
//     if `scaled` is not finite: clip = -1, which skips the step, and state ← S/2, 0
//
// Shapes: scaled, norm and clip [], state [2]. One invocation. Numerics: S stays a power of two if it is one at first.
#include "lib/args.glsl"
#include "lib/finite.glsl"

layout(push_constant) uniform Args {
    In scaled;
    InOut state;
    Out norm;
    Out clip;
    float limit;
    float interval;
};

void main() {
    if (group_index() != 0 || gl_LocalInvocationID.x != 0) return;
    const float length = scaled.at[0] / state.at[0];
    const float scale = state.at[0], steps = state.at[1] + 1.0;
    const bool good = finite(scaled.at[0]);
    const bool grows = good && steps >= interval;
    const float ratio = limit / (length + 1e-6);
    norm.at[0] = length;
    clip.at[0] = !good ? -1.0 : (limit == 0.0 || ratio >= 1.0 ? 1.0 : ratio) / scale;
    state.at[0] = grows ? min(2.0 * scale, 1.2676506002282294e30) : good ? scale : 0.5 * scale;
    state.at[1] = grows || !good ? 0.0 : steps;
}
