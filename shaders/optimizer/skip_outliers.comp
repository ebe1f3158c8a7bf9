#version 460
// z-score of a gradient's norm among the last `size` norms, including itself; above `limit` the step is skipped.
//
//     window[n mod size] ← norm;  z = (norm − mean)/deviation of the window, 0 until n ≥ size
//     new_clip = z > limit ? -1 : clip;  n ← n + 1, and size after 2·size − 1
//
// Shapes: norm, clip, z_score and new_clip [], state [1 + size] = n and the window. One workgroup. If clip is negative,
// because the norm is not finite, new_clip = clip, and the state does not change.
// Numerics: the mean first, then the deviation from the mean, so that no large squares are subtracted.
#include "lib/args.glsl"
#include "lib/group.glsl"

layout(push_constant) uniform Args {
    In norm;
    In clip;
    InOut state;
    Out z_score;
    Out new_clip;
    uint size;
    float limit;
};

float norm_at(uint i, uint newest) { return i == newest ? norm.at[0] : state.at[1 + i]; }

void main() {
    if (group_index() != 0) return;
    const uint count = uint(state.at[0]), newest = count % size;
    float sum = 0.0;
    for (uint i = gl_LocalInvocationID.x; i < size; i += GROUP) sum += norm_at(i, newest);
    const float mean = group_sum(sum) / float(size);
    float squares = 0.0;
    for (uint i = gl_LocalInvocationID.x; i < size; i += GROUP) {
        const float x = norm_at(i, newest) - mean;
        squares += x * x;
    }
    const float deviation = sqrt(group_sum(squares) / float(size));
    if (gl_LocalInvocationID.x != 0) return;
    const bool good = clip.at[0] >= 0.0;
    const float z = good && count >= size && deviation > 0.0 ? (norm.at[0] - mean) / deviation : 0.0;
    z_score.at[0] = z;
    new_clip.at[0] = z > limit ? -1.0 : clip.at[0];
    if (!good) return;
    state.at[1 + newest] = norm.at[0];
    state.at[0] = count + 1 == 2 * size ? float(size) : float(count + 1);
}
